// `npm run image -- --output DIR`: builds the image of deploy/Containerfile for each architecture with buildah. Writes an OCI layout, an OCI
// archive (which `ctr images import` takes) and for each architecture an SBOM.

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { z } from "zod";

import { bundledPackages } from "./bundled-packages.ts";
import { type Architecture, architectures, machineArchitecture } from "./image/debian-packages.ts";
import { type BuildahInit, buildahWith } from "./image/buildah.ts";
import { type ImageOfLayout, imagesOf, nameImage, readFromLayers } from "./image/oci-layout.ts";
import { sourceDate } from "./release/source-date.ts";
import { sbomOf } from "./image/sbom.ts";

/** The settings of an image build. */
export interface ImageInit {
  /** The directory of the results; created if missing. */
  readonly output: string;
  readonly architectures: readonly Architecture[];
  readonly buildah?: BuildahInit | undefined;
  /** The build arguments BUILDER and BASE of deploy/Containerfile. */
  readonly builder?: string | undefined;
  readonly base?: string | undefined;
  /** A directory of downloaded files, see deploy/Containerfile. With it, the installed node_modules are used, too. */
  readonly downloads?: string | undefined;
  /** Components that were built from the same sources, see `cacheDirOf`. Absent: the image's own builds share an empty cache. */
  readonly componentCache?: string | undefined;
  /** The time of all files in the image, in seconds since 1970. Default: $SOURCE_DATE_EPOCH, else the time of the last commit. */
  readonly time?: number | undefined;
  /** The image's full name without a tag. */
  readonly name?: string | undefined;
}

/** The results. */
export interface BuiltImage {
  readonly layout: string;
  readonly archive: string;
}

const root = resolve(import.meta.dirname, "..");
/** The full name that containerd gives to images with the short name `plexus`. */
const defaultName = "docker.io/library/plexus";

/** Builds the image. The same sources, base and builder give the same digests. Throws with buildah's stderr. */
export async function buildImage(init: ImageInit): Promise<BuiltImage> {
  const version = packageVersion();
  const machine = machineArchitecture();
  if (machine === undefined) throw new Error(`no image can be built on ${process.arch}; build on ${architectures.join(" or ")}`);
  const buildah = buildahWith(init.buildah ?? {});
  const output = resolve(init.output);
  const layout = join(output, "oci");
  const archive = join(output, `plexus-${version}.tar`);
  mkdirSync(output, { recursive: true });
  const context = mkdtempSync(join(tmpdir(), "plexus-context-"));
  const list = `localhost/plexus-build:${process.pid}`;
  // The builds of all architectures have the same components.
  const componentCache = resolve(init.componentCache ?? join(context, ".components"));
  try {
    await writeContext(join(context, "src"));
    mkdirSync(componentCache, { recursive: true });
    const time = String(init.time ?? (await sourceDate(root)));
    await buildah("manifest", "create", list);
    for (const architecture of init.architectures) {
      // Some releases of buildah do not set BUILDPLATFORM themselves.
      const args = { BUILDPLATFORM: `linux/${machine}`, VERSION: version, BUILDER: init.builder, BASE: init.base };
      await buildah(
        "build",
        "--manifest",
        list,
        "--platform",
        `linux/${architecture}`,
        "--timestamp",
        time,
        "--identity-label=false",
        "--omit-history",
        ...Object.entries(args).flatMap(([name, value]) => (value === undefined ? [] : ["--build-arg", `${name}=${value}`])),
        "--volume",
        `${componentCache}:/src/dist/cache/delegates:rw`,
        ...mounts(init.downloads),
        "--file",
        join(context, "src", "deploy", "Containerfile"),
        join(context, "src"),
      );
    }
    rmSync(layout, { recursive: true, force: true });
    await buildah("manifest", "push", "--all", list, `oci:${layout}`);
  } finally {
    await buildah("manifest", "rm", list).catch(() => undefined);
    // A storage of its own keeps only what a caller named. Containers are left of a failed build.
    if (init.buildah?.storage !== undefined) {
      await buildah("rm", "--all").catch(() => undefined);
      await buildah("rmi", "--prune").catch(() => undefined);
    }
    rmSync(context, { recursive: true, force: true });
  }
  nameImage(layout, init.name ?? defaultName, version);
  await writeArchive(layout, archive);
  for (const image of imagesOf(layout)) await writeSbom(image, join(output, `plexus-${version}-${image.architecture}.spdx.json`));
  return { layout, archive };
}

/** Copies the files that git knows, as they are in the work tree. */
async function writeContext(directory: string): Promise<void> {
  mkdirSync(directory);
  const git = execa({ cwd: root });
  const { stdout: files } = await git("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  const archive = ["-cf", join(directory, ".tar"), "--null", "--ignore-failed-read", "--files-from=-"];
  await execa("tar", archive, { cwd: root, input: files });
  await execa("tar", ["-xf", join(directory, ".tar"), "-C", directory]);
  rmSync(join(directory, ".tar"));
}

function mounts(downloads: string | undefined): readonly string[] {
  if (downloads === undefined) return [];
  const pairs = [
    [resolve(downloads), "/downloads"],
    [join(root, "node_modules"), "/src/node_modules"],
  ];
  return ["--pull=never", ...pairs.flatMap(([from, to]) => ["--volume", `${from}:${to}:ro`])];
}

async function writeSbom(image: ImageOfLayout, path: string): Promise<void> {
  const architecture = architectures.find((each) => each === image.architecture);
  const [list] = await readFromLayers(image, "*usr/share/doc/plexus/bundled-packages.json");
  if (architecture === undefined || list === undefined)
    throw new Error(`the image for ${image.architecture} has no list of packages`);
  const sbom = await sbomOf({
    architecture,
    digest: image.digest,
    time: Date.parse(image.config.created) / 1000,
    bundled: bundledPackages(list),
    debianPackages: await readFromLayers(image, "*var/lib/dpkg/status.d/*"),
  });
  writeFileSync(path, `${JSON.stringify(sbom, undefined, 2)}\n`);
}

/** Names are sorted, and times, owners and modes are fixed, so that the same layout gives the same archive. */
async function writeArchive(layout: string, archive: string): Promise<void> {
  const fixed = [
    "--sort=name",
    "--mtime=@0",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u=rwX,go=rX",
    "--format=ustar",
  ];
  const temporary = `${archive}.new`;
  await execa("tar", [...fixed, "-cf", temporary, "-C", layout, "blobs", "index.json", "oci-layout"]);
  renameSync(temporary, archive);
}

function packageVersion(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8"))).version;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      output: { type: "string" },
      architecture: { type: "string", multiple: true },
      builder: { type: "string" },
      base: { type: "string" },
      downloads: { type: "string" },
      name: { type: "string" },
      buildah: { type: "string" },
      storage: { type: "string" },
    },
  });
  const wanted = values.architecture ?? architectures;
  const unknown = wanted.filter((each) => !architectures.some((known) => known === each));
  if (values.output === undefined || unknown.length > 0) {
    process.stderr.write(
      `plexus: ${unknown.length > 0 ? `unknown architecture ${unknown.join(", ")}` : "--output is missing"}\nusage: npm run image -- --output DIR [--architecture ${architectures.join("|")}]... [--builder IMAGE] [--base IMAGE@DIGEST] [--downloads DIR] [--name NAME] [--buildah PROGRAM] [--storage DIR]\n`,
    );
    process.exit(2);
  }
  const { output, buildah: program, storage, ...options } = values;
  const buildah = { ...(program === undefined ? {} : { program }), ...(storage === undefined ? {} : { storage }) };
  try {
    const built = await buildImage({
      ...options,
      buildah,
      output,
      architectures: architectures.filter((each) => wanted.includes(each)),
    });
    process.stdout.write(`plexus: ${built.archive}\n`);
  } catch (error) {
    process.stderr.write(`plexus: the image was not built: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
