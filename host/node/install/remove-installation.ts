// Removes the files of an installation from a node, whether it has a one-shot engine or not. The caller knows that no pod needs them.

import { existsSync, lstatSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import {
  type InstalledFile,
  listName,
  listNameBesidePlugins,
  noEngine,
  readInstalledFiles,
} from "../uninstall/installed-files.ts";
import { type RemovedFiles, removeFiles } from "../uninstall/remove-files.ts";
import { lockInstallation } from "./install-lock.ts";
import { nodeDirectory } from "./node-view.ts";

const nothing: RemovedFiles = { removed: [], left: [] };

/** The places of an installation. */
export interface InstalledPlaces {
  /** Plexus' home directory on the node; its engine serves calls without a daemon. */
  readonly home: string;
  /** The node's directory of plugins. */
  readonly cniBin: string;
  /** Where the node's root directory is mounted for this program. */
  readonly root: string;
  /** True: only report, change nothing. */
  readonly dryRun: boolean;
}

/**
 * Removes the files that `install` wrote and that are unchanged, and the directories that are empty afterwards. Paths of the answer are this
 * program's. Without an installation nothing is removed. Faults STORE_FAILED, INSTALL_REFUSED.
 */
export function removeInstallation(places: InstalledPlaces): Result<RemovedFiles> {
  const [home, cniBin] = [nodeDirectory(places.root, places.home), nodeDirectory(places.root, places.cniBin)];
  if (!existsSync(cniBin.here)) return ok({ removed: [], left: [] });
  const unlock = lockInstallation(cniBin.here);
  if (!unlock.ok) return unlock;
  try {
    const lists = [join(home.here, listName), join(cniBin.here, listNameBesidePlugins)].filter((path) => existsSync(path));
    const files: InstalledFile[] = [];
    for (const list of lists) {
      const read = readInstalledFiles(list);
      if (!read.ok) return read;
      files.push(...read.value);
    }
    const answer = lists.length === 0 ? nothing : removeFiles(home.here, [cniBin.here], files, places.dryRun);
    const removed = [...answer.removed];
    for (const list of answer.left.length === 0 ? lists : []) remove(list, places.dryRun, removed);
    const link = join(cniBin.here, ".plexus");
    const stats = lstatSync(link, { throwIfNoEntry: false });
    const isOwn = stats?.isSymbolicLink() === true && [home.onNode, noEngine].includes(readlinkSync(link));
    if (isOwn) remove(link, places.dryRun, removed);
    return ok({ removed, left: answer.left });
  } catch (error) {
    return failed(storeFault("removing from", cniBin.here, error));
  } finally {
    unlock.value();
  }
}

function remove(path: string, dryRun: boolean, removed: string[]): void {
  if (!dryRun) rmSync(path, { force: true });
  if (!removed.includes(path)) removed.push(path);
}
