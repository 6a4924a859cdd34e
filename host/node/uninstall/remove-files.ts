// Removes the files of an installation that are unchanged, and the directories that are empty afterwards.

import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { errnoOf } from "../../store/files/errno.ts";
import { codePrefix, digestOf, type InstalledFile, listName, listNameBesidePlugins, noEngine } from "./installed-files.ts";

/** A file that was not removed, and the reason. */
export interface LeftFile {
  readonly path: string;
  readonly why: string;
}

/** The paths that were removed, and the files that were not. */
export interface RemovedFiles {
  readonly removed: readonly string[];
  readonly left: readonly LeftFile[];
}

/**
 * Removes the unchanged files, and reports the reason for each file that it leaves; never throws. `home`: the directory that `plexusctl
 * install` made (`/opt/plexus`). `cniBin`: directories of plugins. `dryRun`: true: only report what would be removed.
 */
export function removeFiles(
  home: string,
  cniBin: readonly string[],
  files: readonly InstalledFile[],
  dryRun: boolean,
): RemovedFiles {
  const removed: string[] = [];
  const left: LeftFile[] = [];
  const remove = (path: string, act: () => void): void => {
    try {
      if (!dryRun) act();
      removed.push(path);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") left.push({ path, why: error instanceof Error ? error.message : String(error) });
    }
  };
  const removeInstalled = (directory: string, [name, digests]: readonly [string, readonly string[]]): void => {
    const path = join(directory, name);
    const why = reasonToKeep(path, digests);
    if (why === undefined) remove(path, () => unlinkSync(path));
    else if (why !== "absent") left.push({ path, why });
  };
  // First the executables in the plugin directories: no runtime then starts a half-removed Plexus.
  for (const directory of cniBin) {
    for (const file of digestsIn("cni-bin", files)) removeInstalled(directory, file);
    const link = join(directory, ".plexus");
    if (isLinkTo(link, home)) remove(link, () => unlinkSync(link));
    left.push(...linksToPlexus(directory));
  }
  for (const file of digestsIn("home", files)) removeInstalled(home, file);
  for (const path of codeIn(home)) remove(path, () => rmSync(path, { recursive: true }));
  const lists = [...cniBin.map((directory) => join(directory, listNameBesidePlugins)), join(home, listName)];
  for (const list of left.length === 0 ? lists : []) if (existsSync(list)) remove(list, () => unlinkSync(list));
  for (const directory of ["bin", "."]) removeEmpty(resolve(home, directory), dryRun);
  return { removed, left };
}

/** The digests that each file of the place may have, by its name. A file has several after an interrupted installation. */
function digestsIn(place: InstalledFile["place"], files: readonly InstalledFile[]): ReadonlyMap<string, readonly string[]> {
  const here = files.filter((file) => file.place === place);
  const byName = Map.groupBy(here, ({ name }) => name);
  return new Map([...byName].map(([name, all]) => [name, all.map(({ digest }) => digest)]));
}

/** The link `engine` first, then all code directories, including those that an update kept for running programs. */
function codeIn(home: string): readonly string[] {
  try {
    const names = readdirSync(home).filter((name) => name.startsWith(codePrefix));
    const link = lstatSync(join(home, "engine"), { throwIfNoEntry: false })?.isSymbolicLink() === true ? ["engine"] : [];
    return [...link, ...names].map((name) => join(home, name));
  } catch {
    return [];
  }
}

/** Why the file must stay; undefined if it is unchanged, `absent` if there is no file. */
function reasonToKeep(path: string, digests: readonly string[]): string | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return "absent";
    if (!stats.isFile()) return "is not a regular file, unlike the installed file";
    return digests.includes(digestOf(path)) ? undefined : "was changed since it was installed";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isLinkTo(link: string, home: string): boolean {
  try {
    const isLink = lstatSync(link).isSymbolicLink();
    return isLink && (readlinkSync(link) === noEngine || realpathSync(link) === realpathSync(home));
  } catch {
    return false;
  }
}

/** Links to Plexus under other names, such as Multus': an administrator made them, so they stay. */
function linksToPlexus(directory: string): readonly LeftFile[] {
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

/** Removes the directory if it is empty. Other files in it do not belong to Plexus. */
function removeEmpty(path: string, dryRun: boolean): void {
  try {
    if (!dryRun) rmdirSync(path);
  } catch {
    // The directory is not empty and stays.
  }
}
