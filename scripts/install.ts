// `npm run install-node -- --home DIR --cni-bin DIR`: puts a build where a container runtime finds it. Every file is written
// beside its place and renamed into it, so that pods can start meanwhile and a plugin that is running is not disturbed.

import {
  chmodSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { digestOf, type InstalledFile, listName, listText } from "../host/uninstall/installed-files.ts";

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
placeDirectory(join(dist, "brain"), join(home, "brain"));
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
  const code = readdirSync(join(home, "brain"), { withFileTypes: true }).filter((entry) => entry.isFile());
  const programs = ["brain.cjs", "plexusd.cjs", "plexusctl.cjs", "bin/plexusctl", "bin/node"];
  const inHome = [...code.map(({ name }) => `brain/${name}`), ...programs];
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

/** A directory can't be renamed over a full one: the old one is moved away first, and removed. */
function placeDirectory(from: string, to: string): void {
  const temporary = beside(to);
  const old = join(dirname(to), `.${basename(to)}.old`);
  for (const path of [temporary, old]) rmSync(path, { recursive: true, force: true });
  cpSync(from, temporary, { recursive: true });
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) renameSync(to, old);
  renameSync(temporary, to);
  rmSync(old, { recursive: true, force: true });
}
