// Files under temporary names, in the file systems of their places. The switch to them is one rename for each file.

import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { createHash } from "node:crypto";
import { digestOf } from "../uninstall/installed-files.ts";
import type { SourceFile } from "./source.ts";

/** The temporary name of a file or link, in the same directory. Neither a runtime nor Plexus reads it. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.new`);
}

/** SHA-256 of the file to install, in hexadecimal. Throws the errors of node:fs. */
export function digestOfSource({ content }: SourceFile): string {
  return "text" in content ? createHash("sha256").update(content.text).digest("hex") : digestOf(content.path);
}

/** Whether the regular file at `path` has this digest and these permissions. Throws the errors of node:fs, except for a missing file. */
export function isInPlace(path: string, { content, mode }: SourceFile, digest: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || (stats.mode & 0o7777) !== mode) return false;
  const size = "text" in content ? Buffer.byteLength(content.text) : statSync(content.path).size;
  return stats.size === size && digestOf(path) === digest;
}

/** Writes the file to `path`, with its mode and on the disk (fsync). Throws the errors of node:fs. */
export function writeStaged(path: string, { content, mode }: SourceFile): void {
  rmSync(path, { force: true, recursive: true });
  if ("text" in content) writeFileSync(path, content.text, { flag: "wx", mode: 0o600 });
  else copyFileSync(content.path, path, constants.COPYFILE_EXCL);
  chmodSync(path, mode);
  syncToDisk(path);
}

/** Gives a file that stays a second name at `path`, so that a staged directory is complete. A file system without hard links gets a symbolic link. */
export function linkStaged(path: string, installed: string): void {
  try {
    linkSync(installed, path);
  } catch {
    symlinkSync(installed, path);
  }
}

/** Makes `path` a symbolic link to `target`, atomically. Throws the errors of node:fs. */
export function placeLink(target: string, path: string): void {
  const temporary = temporaryName(path);
  rmSync(temporary, { force: true });
  symlinkSync(target, temporary);
  renameSync(temporary, path);
}

/** Writes a file or the names in a directory to the disk. Throws the errors of node:fs. */
export function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
