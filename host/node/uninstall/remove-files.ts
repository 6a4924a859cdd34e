// Takes an installation's files away: those that are as they were installed, and directories that are empty then.

import { lstatSync, readdirSync, readlinkSync, realpathSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { errnoOf } from "../files/errno.ts";
import { codePrefix, digestOf, type InstalledFile, listName } from "./installed-files.ts";

export interface LeftFile {
  readonly path: string;
  readonly why: string;
}

export interface RemovedFiles {
  readonly removed: readonly string[];
  readonly left: readonly LeftFile[];
}

export interface RemovalInit {
  readonly home: string;
  /** Directories of plugins. */
  readonly cniBin: readonly string[];
  readonly files: readonly InstalledFile[];
  /** Nothing is removed, it is only told what would be. */
  readonly dryRun: boolean;
}

/** Removes what may be removed, and says of the rest why it stays; never throws. */
export function removeFiles(init: RemovalInit): RemovedFiles {
  const removed: string[] = [];
  const left: LeftFile[] = [];
  const remove = (path: string, act: () => void): void => {
    try {
      if (!init.dryRun) act();
      removed.push(path);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") left.push({ path, why: error instanceof Error ? error.message : String(error) });
    }
  };
  const removeInstalled = (directory: string, { name, digest }: InstalledFile): void => {
    const path = join(directory, name);
    const why = reasonToKeep(path, digest);
    if (why === undefined) remove(path, () => unlinkSync(path));
    else if (why !== "absent") left.push({ path, why });
  };
  // What a runtime executes goes first: nobody starts what is half there.
  for (const directory of init.cniBin) {
    for (const file of init.files) if (file.place === "cni-bin") removeInstalled(directory, file);
    const link = join(directory, ".plexus");
    if (leadsTo(link, init.home)) remove(link, () => unlinkSync(link));
    left.push(...linksToUs(directory));
  }
  for (const file of init.files) if (file.place === "home") removeInstalled(init.home, file);
  for (const path of codeIn(init.home)) remove(path, () => rmSync(path, { recursive: true }));
  const list = join(init.home, listName);
  if (left.length === 0) remove(list, () => unlinkSync(list));
  for (const directory of ["bin", "."]) removeEmpty(resolve(init.home, directory), init.dryRun);
  return { removed, left };
}

/** The link to the code first, then the code, also what an update left for programs that ran then. */
function codeIn(home: string): readonly string[] {
  try {
    const names = readdirSync(home).filter((name) => name.startsWith(codePrefix));
    const link = lstatSync(join(home, "brain"), { throwIfNoEntry: false })?.isSymbolicLink() === true ? ["brain"] : [];
    return [...link, ...names].map((name) => join(home, name));
  } catch {
    return [];
  }
}

/** `absent`: there is nothing to be kept. */
function reasonToKeep(path: string, digest: string): string | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return "absent";
    if (!stats.isFile()) return "is no file of the installation any more";
    return digestOf(path) === digest ? undefined : "was changed since it was installed";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function leadsTo(link: string, home: string): boolean {
  try {
    return lstatSync(link).isSymbolicLink() && realpathSync(link) === realpathSync(home);
  } catch {
    return false;
  }
}

/** Plexus under other names, Multus' for instance: an administrator made them. */
function linksToUs(directory: string): readonly LeftFile[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter(
        (entry) =>
          entry.isSymbolicLink() && ["plexus", join(directory, "plexus")].includes(readlinkSync(join(directory, entry.name))),
      )
      .map(({ name }) => ({ path: join(directory, name), why: "is a link to plexus that the installation didn't make" }));
  } catch {
    return [];
  }
}

/** Best effort: what is not empty is somebody's. */
function removeEmpty(path: string, dryRun: boolean): void {
  try {
    if (!dryRun) rmdirSync(path);
  } catch {
    // It stays.
  }
}
