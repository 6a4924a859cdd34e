// The archive for a node without npm: `plexus-VERSION-linux-ARCH.tar.gz` with Node, engine, shim, components, systemd units and `install.sh`. The
// same build gives the same bytes.

import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { install } from "../../host/node/install/install.ts";
import { codePrefix, listName, listNameBesidePlugins } from "../../host/node/uninstall/installed-files.ts";
import { cacheDirectory } from "../../host/node/install/code-cache-names.ts";
import { pack } from "./pack.ts";
import { inTemporaryDirectory, stageCommonFiles } from "./staging.ts";

/** The settings of an archive. */
export interface NodeArchiveInit {
  /** The repository's directory. */
  readonly root: string;
  /** The build (`dist`). */
  readonly build: string;
  readonly outDir: string;
  readonly version: string;
  /** The files' time, in seconds since 1970. */
  readonly epoch: number;
}

/** The archive's architecture, by Debian's name. */
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** Writes the archive into `outDir` and answers its path. Throws with the reason of a failure. */
export function makeNodeArchive({ root, build, outDir, version, epoch }: NodeArchiveInit): Promise<string> {
  const name = `plexus-${version}-linux-${architectures[process.arch] ?? process.arch}`;
  return inTemporaryDirectory("release", async (directory) => {
    const release = join(directory, name);
    layOut(build, release);
    stageCommonFiles(root, release);
    copyFileSync(join(root, "scripts/release/install.sh"), join(release, "install.sh"));
    mkdirSync(outDir, { recursive: true });
    const archive = join(outDir, `${name}.tar.gz`);
    await pack({ directory, name, epoch, archive });
    return archive;
  });
}

/** The layout of an installed home directory, with the directory of plugins as `cni`. Runs the programs once, as every installation does. */
function layOut(build: string, release: string): void {
  const init = { from: build, ownNode: process.execPath, home: release, cniBin: join(release, "cni"), root: "/" } as const;
  const installed = install({ ...init, oneShot: "node", components: "all", ownCaches: false, dryRun: false });
  if (!installed.ok) throw new Error(installed.fault.msg);
  const code = readdirSync(release).find((name) => name.startsWith(codePrefix));
  if (code === undefined) throw new Error(`${build} has no engine: npm run build`);
  // A directory in place of the link: some tools for archives leave links out.
  rmSync(join(release, "engine"));
  cpSync(join(release, code), join(release, "engine"), { recursive: true, filter: (path) => basename(path) !== cacheDirectory });
  for (const left of [code, listName, "cni/.plexus", `cni/${listNameBesidePlugins}`])
    rmSync(join(release, left), { recursive: true });
}
