// `npm run release -- [--out DIR] [--only PART[,PART…]] [--untagged [--no-build]]`: makes the files of a release from the tree, the same files for the
// same commit. The tree must be committed and at the tag of package.json's version. --untagged: a trial, from the tree as it is.
// The options --builder, --base, --downloads, --buildah and --storage are those of `npm run image`.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { completer } from "../../host/programs/kubectl-plexus/complete.ts";
import { hideExperimentalWarnings } from "../../host/programs/plexusctl/experimental-warnings.ts";
import { version } from "../../host/system/version.ts";
import { unfrozenContracts } from "./freeze-contract.ts";
import { makeNodeArchive } from "./node-archive.ts";
import { makeNpmPackage } from "./npm-package.ts";
import { pack } from "./pack.ts";
import { makeSdkPackages } from "./sdk-packages.ts";
import { notTheRelease } from "./release-tree.ts";
import { sourceDate } from "./source-date.ts";
import { inTemporaryDirectory, stageLicence } from "./staging.ts";

const root = resolve(import.meta.dirname, "../..");
const build = join(root, "dist");

/** The inputs of every part of a release. */
interface Part {
  readonly outDir: string;
  readonly epoch: number;
}

/** The parts of a release by their names for `--only`. Each answers the paths of its files. */
const parts: Readonly<Record<string, (part: Part) => Promise<readonly string[]>>> = {
  archive: async ({ outDir, epoch }) => [await makeNodeArchive({ root, build, outDir, version, epoch })],
  npm: async ({ outDir }) => [await makeNpmPackage({ root, build, outDir, repository: process.env["PLEXUS_REPOSITORY"] })],
  sdk: ({ outDir }) => makeSdkPackages({ root, outDir, repository: process.env["PLEXUS_REPOSITORY"] }),
  kubectl: makeKubectlPlugin,
  chart: async ({ outDir, epoch }) => [await makeChart(outDir, epoch)],
  image: makeImage,
};

hideExperimentalWarnings();
const { values } = parseArgs({
  options: {
    out: { type: "string", default: "release" },
    only: { type: "string", default: Object.keys(parts).join(",") },
    untagged: { type: "boolean" },
    "no-build": { type: "boolean" },
    builder: { type: "string" },
    base: { type: "string" },
    downloads: { type: "string" },
    buildah: { type: "string" },
    storage: { type: "string" },
  },
});
const { out: _out, only: _only, untagged: _untagged, "no-build": _noBuild, ...imageOptions } = values;
const wanted = values.only.split(",");
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) stop(2, `--only ${unknown.join(",")}: the parts are ${Object.keys(parts).join(", ")}`);
if (values.untagged !== true) {
  if (values["no-build"] === true)
    stop(2, "--no-build takes dist/ as it is, perhaps of another commit: add --untagged for a trial");
  const refusal = await notTheRelease(root, version);
  if (refusal !== undefined) stop(1, refusal);
  for (const contract of unfrozenContracts({ wit: join(root, "wit"), compat: join(root, "test/ship/compat") }))
    process.stderr.write(`plexus: warning: the contract ${contract} is not frozen: see "Make a release" of CONTRIBUTING.md\n`);
}
if (values["no-build"] !== true) {
  const built = spawnSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) stop(1, "the build failed");
}
const outDir = resolve(values.out);
mkdirSync(outDir, { recursive: true });
try {
  const epoch = await sourceDate(root);
  for (const name of wanted) {
    for (const path of (await parts[name]?.({ outDir, epoch })) ?? []) process.stdout.write(`${path}\n`);
  }
  writeChecksums(outDir);
} catch (error) {
  stop(1, error instanceof Error ? error.message : String(error));
}

function stop(status: 1 | 2, why: string): never {
  process.stderr.write(`plexus: ${why}\n`);
  process.exit(status);
}

/** The archive of `kubectl plexus`, and krew's manifest with its digest. */
function makeKubectlPlugin({ outDir: to, epoch }: Part): Promise<readonly string[]> {
  return inTemporaryDirectory("kubectl", async (directory) => {
    const name = "kubectl-plexus";
    const archive = join(to, `${name}-${version}.tar.gz`);
    mkdirSync(join(directory, name));
    copyFileSync(join(build, "kubectl-plexus.cjs"), join(directory, name, "kubectl-plexus"));
    symlinkSync("kubectl-plexus", join(directory, name, completer));
    stageLicence(root, join(directory, name));
    await pack({ directory, name, epoch, archive });
    const template = readFileSync(join(root, "deploy/krew/plexus.yaml"), "utf8").replaceAll(/^#.*\n/gm, "");
    const manifest = join(to, "plexus.krew.yaml");
    const base = process.env["PLEXUS_RELEASE_URL"] ?? "https://example.invalid/plexus";
    writeFileSync(
      manifest,
      template.replaceAll("{{VERSION}}", version).replaceAll("{{SHA256}}", sha256(archive)).replaceAll("{{URL}}", base),
    );
    return [archive, manifest];
  });
}

/** The chart as `helm package` names it. helm itself would write the time of the packing into it. */
async function makeChart(to: string, epoch: number): Promise<string> {
  const archive = join(to, `plexus-${version}.tgz`);
  await pack({ directory: join(root, "deploy/helm"), name: "plexus", epoch, archive });
  return archive;
}

/** The image and its SBOM, by the image's own script. */
async function makeImage({ outDir: to, epoch }: Part): Promise<readonly string[]> {
  const script = join(root, "scripts/image.ts");
  if (!existsSync(script)) throw new Error("scripts/image.ts is missing: leave image out with --only");
  const before = new Set(readdirSync(to));
  const options = Object.entries(imageOptions).flatMap(([name, value]) => [`--${name}`, value]);
  await execa(process.execPath, [script, "--output", to, ...options], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { SOURCE_DATE_EPOCH: String(epoch) },
  });
  return readdirSync(to)
    .filter((name) => !before.has(name))
    .map((name) => join(to, name));
}

/** SHA256SUMS of all files of the release, for `sha256sum --check`. */
function writeChecksums(directory: string): void {
  const name = "SHA256SUMS";
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== name);
  const lines = files.map((entry) => `${sha256(join(directory, entry.name))}  ${entry.name}\n`);
  writeFileSync(join(directory, name), lines.toSorted((a, b) => a.slice(66).localeCompare(b.slice(66))).join(""));
}

function sha256(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
