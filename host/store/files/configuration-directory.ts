// Reads a directory of network configurations as data, for the rules in src/cni and src/npwg (L-20 to L-24).

import { type Dirent, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { appendSubdirectoryPlugins, type ConfigDirectory, type ConfigFile } from "../../../src/cni/config-directory.ts";
import type { NetworkList } from "../../../src/cni/network-list.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault } from "./durable-file.ts";
import { errnoOf } from "./errno.ts";
import { readRegularFile } from "./regular-file.ts";

/** A longer file is not a network configuration. Links are followed, because the files of a mounted ConfigMap are links. */
export const configurationFile = { maxBytes: 4 * 1024 * 1024, foreign: true } as const;

/** The files of a directory and of its subdirectories; none if the directory does not exist (L-23). Fault STORE_FAILED. */
export function readConfigurationDirectory(path: string): Result<ConfigDirectory> {
  const entries = entriesOf(path);
  if (!entries.ok) return entries;
  const subdirectories = new Map<string, readonly ConfigFile[]>();
  for (const entry of entries.value) {
    if (!entry.isDirectory()) continue;
    const files = readFiles(join(path, entry.name));
    if (!files.ok) return files;
    subdirectories.set(entry.name, files.value);
  }
  const files = filesAmong(path, entries.value);
  return ok({ path, files, subdirectories });
}

/**
 * Completes a list from the file `path` with the plugins of the subdirectory that has the list's name (L-20). Fault STORE_FAILED,
 * and the faults of `appendSubdirectoryPlugins`.
 */
export function withSubdirectoryPlugins(list: NetworkList, path: string): Result<NetworkList> {
  const files = list.loadOnlyInlinedPlugins ? ok([]) : readFiles(join(dirname(path), list.name));
  return files.ok ? appendSubdirectoryPlugins(list, files.value) : files;
}

function readFiles(path: string): Result<readonly ConfigFile[]> {
  const entries = entriesOf(path);
  return entries.ok ? ok(filesAmong(path, entries.value)) : entries;
}

function entriesOf(path: string): Result<readonly Dirent[]> {
  try {
    return ok(readdirSync(path, { withFileTypes: true }));
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? ok([]) : failed(storeFault("listing", path, error));
  }
}

function filesAmong(directory: string, entries: readonly Dirent[]): readonly ConfigFile[] {
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => readOne(join(directory, entry.name)));
}

function readOne(path: string): ConfigFile {
  try {
    return { path, text: readRegularFile(path, configurationFile) };
  } catch (error) {
    return { path, unreadable: error instanceof Error ? error.message : String(error) };
  }
}
