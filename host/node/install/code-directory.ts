// The directory of the programs' code. Its name has the digest of its content, and the link `engine` leads to it: rename(2) can't replace a
// directory that has files. Running programs load more of their code later, so the previous directory stays until the next installation.

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../../store/files/make-directory.ts";
import { codePrefix, digestOf } from "../uninstall/installed-files.ts";
import { directoryMode } from "./node-view.ts";
import { placeLink, syncToDisk, writeStaged } from "./staged-files.ts";

const digestLength = 12;

/** The name of the directory for this code, in the home directory. Throws the errors of node:fs. */
export function codeName(code: string): string {
  return `${codePrefix}${digestOfFiles(code)}`;
}

/** Whether the home directory has this code, unchanged. Throws the errors of node:fs, except for a missing directory. */
export function hasCode(home: string, name: string): boolean {
  const directory = join(home, name);
  return lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true && codeName(directory) === name;
}

/** Copies the code into a new directory `to`. Programs make subdirectories for caches of this path; those are not copied. */
export function stageCode(code: string, to: string): void {
  makeDirectory(to, directoryMode);
  for (const name of filesOf(code)) writeStaged(join(to, name), { name, content: { path: join(code, name) }, mode: 0o644 });
  syncToDisk(to);
}

/** The directory to which the link `engine` leads; undefined if there is no link. */
export function currentCode(home: string): string | undefined {
  const link = join(home, "engine");
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(link) : undefined;
}

/** Moves the staged code into the home directory. A damaged directory of the same name makes way for it. */
export function placeCode(staged: string, home: string, name: string): void {
  const directory = join(home, name);
  if (lstatSync(directory, { throwIfNoEntry: false }) !== undefined) {
    const damaged = `${directory}.damaged`;
    rmSync(damaged, { recursive: true, force: true });
    renameSync(directory, damaged);
  }
  renameSync(staged, directory);
}

/** Makes `engine` lead to the code `name`. Answers the paths of older code that were removed. */
export function switchCode(home: string, name: string): readonly string[] {
  const previous = currentCode(home);
  // The same code is installed again: the code before it may still run, so it stays.
  if (previous === name) return [];
  const link = join(home, "engine");
  if (previous === undefined) rmSync(link, { recursive: true, force: true });
  placeLink(name, link);
  const old = readdirSync(home)
    .filter((each) => each.startsWith(codePrefix) && each !== name && each !== previous)
    .map((each) => join(home, each));
  for (const path of old) rmSync(path, { recursive: true, force: true });
  return old;
}

/** A digest of the names and contents of the directory's files. */
function digestOfFiles(directory: string): string {
  const lines = filesOf(directory).map((name) => `${name} ${digestOf(join(directory, name))}\n`);
  return createHash("sha256").update(lines.toSorted().join("")).digest("hex").slice(0, digestLength);
}

function filesOf(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}
