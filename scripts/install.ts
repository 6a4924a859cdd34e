// `npm run install-node -- --home DIR --cni-bin DIR`: installs a build on this node. Every file is written under a temporary name and
// renamed, so that pods can start meanwhile, and running plugins are not disturbed.

import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { codePrefix, digestOf, type InstalledFile, listName, listText } from "../host/node/uninstall/installed-files.ts";

const { values } = parseArgs({
  options: {
    home: { type: "string", default: "/opt/plexus" },
    "cni-bin": { type: "string", default: "/opt/cni/bin" },
  },
});
const dist = resolve(import.meta.dirname, "../dist");
const home = resolve(values.home);
const cniBin = resolve(values["cni-bin"]);
/** The command plexusctl. It finds the installed Node although users may start it through a link. */
const plexusctlCommand = `#!/bin/sh
bin=$(dirname "$(readlink -f "$0")")
exec "$bin/node" --disable-warning=ExperimentalWarning "$bin/../plexusctl.cjs" "$@"
`;

mkdirSync(join(home, "bin"), { recursive: true });
mkdirSync(cniBin, { recursive: true });
placeFile(process.execPath, join(home, "bin", "node"), 0o755);
placeFile(join(dist, "bin", "plexus-sandbox"), join(home, "bin", "plexus-sandbox"), 0o755);
placeCode();
for (const program of ["engine.cjs", "plexusd.cjs", "plexusctl.cjs"]) placeFile(join(dist, program), join(home, program), 0o644);
placeText(plexusctlCommand, join(home, "bin", "plexusctl"), 0o755);
for (const name of readdirSync(join(dist, "delegates"))) {
  if (name.endsWith(".wasm")) placeFile(join(dist, "delegates", name), join(cniBin, name), 0o644);
}
placeLink(home, join(cniBin, ".plexus"));
placeFile(join(dist, "plexus"), join(cniBin, "plexus"), 0o755);
placeText(listText(installedFiles()), join(home, listName), 0o644);
process.stdout.write(`plexus: installed ${join(cniBin, "plexus")} and ${home}\n`);

/** The files that `plexusctl uninstall` removes. */
function installedFiles(): readonly InstalledFile[] {
  const components = readdirSync(join(dist, "delegates")).filter((name) => name.endsWith(".wasm"));
  const inHome = ["engine.cjs", "plexusd.cjs", "plexusctl.cjs", "bin/plexusctl", "bin/node", "bin/plexus-sandbox"];
  return [
    ...["plexus", ...components].map((name) => ({ place: "cni-bin", name, digest: digestOf(join(cniBin, name)) }) as const),
    ...inHome.map((name) => ({ place: "home", name, digest: digestOf(join(home, name)) }) as const),
  ];
}

/** A temporary name in the same directory. */
function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.new`);
}

function placeFile(from: string, to: string, mode: number): void {
  const temporary = temporaryName(to);
  copyFileSync(from, temporary);
  chmodSync(temporary, mode);
  renameSync(temporary, to);
}

function placeText(text: string, to: string, mode: number): void {
  const temporary = temporaryName(to);
  writeFileSync(temporary, text);
  chmodSync(temporary, mode);
  renameSync(temporary, to);
}

function placeLink(target: string, path: string): void {
  const temporary = temporaryName(path);
  rmSync(temporary, { force: true });
  symlinkSync(target, temporary);
  renameSync(temporary, path);
}

/**
 * Installs the code in a directory that is named by its digest, and makes `engine` a link to that directory: rename(2) cannot replace a
 * directory that has files. Running programs load more of their code later, so the previous code stays until the next installation.
 */
function placeCode(): void {
  const from = join(dist, "engine");
  const directory = `${codePrefix}${digestOfAll(from)}`;
  const link = join(home, "engine");
  const previous = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(link) : undefined;
  if (!existsSync(join(home, directory))) {
    const temporary = temporaryName(join(home, directory));
    rmSync(temporary, { recursive: true, force: true });
    cpSync(from, temporary, { recursive: true });
    renameSync(temporary, join(home, directory));
  }
  // The same code is installed again: the code before it may still run, so it stays.
  if (previous === directory) return;
  if (previous === undefined) rmSync(link, { recursive: true, force: true });
  placeLink(directory, link);
  for (const name of readdirSync(home)) {
    const isOld = name.startsWith(codePrefix) && name !== directory && name !== previous;
    if (isOld) rmSync(join(home, name), { recursive: true, force: true });
  }
}

/** A digest of the names and contents of the directory's files. Subdirectories are ignored, because running programs create them. */
function digestOfAll(directory: string): string {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.map(({ name }) => `${name} ${digestOf(join(directory, name))}\n`).toSorted();
  return createHash("sha256").update(lines.join("")).digest("hex").slice(0, 12);
}
