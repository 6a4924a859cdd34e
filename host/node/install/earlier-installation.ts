// The earlier installation on a node, by its lists of installed files. Each installation has a list beside the plugins. One with a one-shot engine
// also has a list in the home directory, and `--one-shot off` takes that engine away.

import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { statsOf } from "../../store/files/stats-of.ts";
import {
  type InstalledFile,
  listName,
  listNameBesidePlugins,
  listText,
  readInstalledFiles,
} from "../uninstall/installed-files.ts";
import { removeFiles } from "../uninstall/remove-files.ts";
import { temporaryName, writeStaged } from "./staged-files.ts";

/** The installed files by the lists of a node. */
export interface EarlierInstallation {
  /** The files of both lists. A file of both has two entries, with different digests after an interrupted installation. */
  readonly files: readonly InstalledFile[];
  /** The files of the home directory; undefined if it has no list, or a malformed one. */
  readonly engine: EarlierEngine | undefined;
}

/** An engine that an earlier installation put into the home directory. */
export interface EarlierEngine {
  readonly home: string;
  readonly files: readonly InstalledFile[];
}

/** The removal of an earlier engine. Paths are this program's. */
export interface RemovedEngine {
  readonly removed: readonly string[];
  readonly kept: readonly { readonly path: string; readonly why: string }[];
}

/** Reads both lists. An absent or malformed list has no files: its components then count as an administrator's. */
export function readEarlier(cniBin: string, home: string): EarlierInstallation {
  const [inHome, besidePlugins] = [join(home, listName), join(cniBin, listNameBesidePlugins)].map(readInstalledFiles);
  const homeLines = inHome?.ok === true ? inHome.value : undefined;
  return {
    files: [...(homeLines ?? []), ...(besidePlugins?.ok === true ? besidePlugins.value : [])],
    engine: homeLines && { home, files: homeLines.filter(({ place }) => place === "home") },
  };
}

/**
 * Removes an engine and its list. An engine from which a process runs stays until the next installation, because its programs load more of their
 * code later; the shim no longer finds it. Throws the errors of node:fs.
 */
export function removeEngine({ home, files }: EarlierEngine, dryRun: boolean): RemovedEngine {
  const list = join(home, listName);
  const user = processOf(join(home, "bin", "node"));
  if (user !== undefined) {
    const why = `process ${user} runs from it; repeat the installation when the process has ended`;
    if (!dryRun) writeList(list, files);
    return { removed: [], kept: [{ path: home, why }] };
  }
  const { removed, left } = removeFiles(home, [], files, dryRun);
  // Files that stay are still Plexus' own, for --remove.
  if (left.length > 0 && !dryRun) writeList(list, files);
  return { removed: removed.filter((path) => path !== list), kept: left };
}

function writeList(path: string, files: readonly InstalledFile[]): void {
  writeStaged(temporaryName(path), { name: listName, content: { text: listText(files) }, mode: 0o644 });
  renameSync(temporaryName(path), path);
}

/** The id of another process that executes this file; undefined if this program sees none. In a container it sees the container's processes only. */
function processOf(executable: string): string | undefined {
  if (!existsSync(executable)) return undefined;
  const { dev, ino } = statSync(executable);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .find((name) => {
      const running = statsOf(`/proc/${name}/exe`);
      return running?.dev === dev && running.ino === ino;
    });
}
