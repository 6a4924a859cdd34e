// `npm run install-node -- --home DIR --cni-bin DIR`: puts a build where a container runtime finds it. Every file is written
// beside its place and renamed into it, so that pods can start meanwhile and a plugin that is running is not disturbed.

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
import { codePrefix, digestOf, type InstalledFile, listName, listText } from "../host/uninstall/installed-files.ts";

const { values } = parseArgs({
  options: {
    home: { type: "string", default: "/opt/plexus" },
    "cni-bin": { type: "string", default: "/opt/cni/bin" },
  },
});
const dist = resolve(import.meta.dirname, "../dist");
const home = resolve(values.home);
const cniBin = resolve(values["cni-bin"]);
/** By the Node beside it, wherever a link to it lies. */
const entrance = `#!/bin/sh
bin=$(dirname "$(readlink -f "$0")")
exec "$bin/node" --disable-warning=ExperimentalWarning "$bin/../plexusctl.cjs" "$@"
`;

mkdirSync(join(home, "bin"), { recursive: true });
mkdirSync(cniBin, { recursive: true });
placeFile(process.execPath, join(home, "bin", "node"), 0o755);
placeCode();
for (const program of ["brain.cjs", "plexusd.cjs", "plexusctl.cjs"]) placeFile(join(dist, program), join(home, program), 0o644);
placeText(entrance, join(home, "bin", "plexusctl"), 0o755);
for (const name of readdirSync(join(dist, "delegates"))) {
  if (name.endsWith(".wasm")) placeFile(join(dist, "delegates", name), join(cniBin, name), 0o644);
}
placeLink(home, join(cniBin, ".plexus"));
placeFile(join(dist, "plexus"), join(cniBin, "plexus"), 0o755);
placeText(listText(installedFiles()), join(home, listName), 0o644);
process.stdout.write(`plexus: installed ${join(cniBin, "plexus")} with its home ${home}\n`);

/** What `plexusctl uninstall` removes again. */
function installedFiles(): readonly InstalledFile[] {
  const components = readdirSync(join(dist, "delegates")).filter((name) => name.endsWith(".wasm"));
  const inHome = ["brain.cjs", "plexusd.cjs", "plexusctl.cjs", "bin/plexusctl", "bin/node"];
  return [
    ...["plexus", ...components].map((name) => ({ place: "cni-bin", name, digest: digestOf(join(cniBin, name)) }) as const),
    ...inHome.map((name) => ({ place: "home", name, digest: digestOf(join(home, name)) }) as const),
  ];
}

function beside(path: string): string {
  return join(dirname(path), `.${basename(path)}.new`);
}

function placeFile(from: string, to: string, mode: number): void {
  const temporary = beside(to);
  copyFileSync(from, temporary);
  chmodSync(temporary, mode);
  renameSync(temporary, to);
}

function placeText(text: string, to: string, mode: number): void {
  const temporary = beside(to);
  writeFileSync(temporary, text);
  chmodSync(temporary, mode);
  renameSync(temporary, to);
}

function placeLink(target: string, path: string): void {
  const temporary = beside(path);
  rmSync(temporary, { force: true });
  symlinkSync(target, temporary);
  renameSync(temporary, path);
}

/**
 * The code goes into a directory that is named after what is in it, and `brain` becomes a link to that: a directory can't be renamed over a
 * full one, and programs that run load more of their code later. So the code before this one stays until the next time.
 */
function placeCode(): void {
  const from = join(dist, "brain");
  const directory = `${codePrefix}${digestOfAll(from)}`;
  const link = join(home, "brain");
  const before = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(link) : undefined;
  if (!existsSync(join(home, directory))) {
    const temporary = beside(join(home, directory));
    rmSync(temporary, { recursive: true, force: true });
    cpSync(from, temporary, { recursive: true });
    renameSync(temporary, join(home, directory));
  }
  // The same again: what it took the place of is still what may run.
  if (before === directory) return;
  if (before === undefined) rmSync(link, { recursive: true, force: true });
  placeLink(directory, link);
  for (const name of readdirSync(home)) {
    const old = name.startsWith(codePrefix) && name !== directory && name !== before;
    if (old) rmSync(join(home, name), { recursive: true, force: true });
  }
}

/** Of a directory's files, by their names; what lies deeper is made by programs as they run. */
function digestOfAll(directory: string): string {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.map(({ name }) => `${name} ${digestOf(join(directory, name))}\n`).toSorted();
  return createHash("sha256").update(lines.join("")).digest("hex").slice(0, 12);
}
