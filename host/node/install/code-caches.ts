// V8's code caches of the scripts of the one-shot engine and of a sandbox process. A release has none, because V8 makes another one in each build and for each
// architecture. The installation makes them with the node's own Node: it compiles the scripts and runs none of them.

import { spawnSync } from "node:child_process";
import { chmodSync, lstatSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../../store/files/make-directory.ts";
import { cacheDirectory, cacheNameExpression, packedScripts } from "./code-cache-names.ts";
import { directoryMode } from "./node-view.ts";
import { syncToDisk } from "./staged-files.ts";

/** The caches of an installation. */
export interface CodeCaches {
  /** Paths of the caches that were written: each one that was missing, of another Node, or writable by others. */
  readonly written: readonly string[];
  /** Why a cache is missing: programs then compile their code at each start; null: all are there. */
  readonly failed: string | null;
}

const timeoutMs = 60_000;

/**
 * Compiles each function of the scripts. V8's flag is at its default again when the cache is made, because a cache holds only for the flags of its making. The
 * program prints the names of the files that it wrote.
 */
const program = `"use strict";
const { fstatSync, openSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { constants, Script } = require("node:vm");
const { setFlagsFromString } = require("node:v8");
const [code, directory, ...names] = process.argv.slice(1);
const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
for (const name of names) {
  const filename = code + "/" + name;
  const source = readFileSync(filename, "latin1");
  const cache = directory + "/" + ${cacheNameExpression};
  const accepted = (path) => {
    try {
      const file = openSync(path);
      const { uid, mode } = fstatSync(file);
      const cachedData = readFileSync(file);
      return uid === process.getuid() && (mode & 0o022) === 0 && !new Script(source, { filename, cachedData, importModuleDynamically }).cachedDataRejected;
    } catch {
      return false;
    }
  };
  if (accepted(cache)) continue;
  setFlagsFromString("--no-lazy");
  const script = new Script(source, { filename, importModuleDynamically });
  setFlagsFromString("--lazy");
  rmSync(cache + ".new", { force: true });
  writeFileSync(cache + ".new", script.createCachedData(), { flag: "wx", mode: 0o644 });
  if (!accepted(cache + ".new")) throw new Error("V8 refuses its own cache of " + filename);
  console.log(cache);
}
`;

/** Makes the caches that are missing. `node` is the Node that will read them, and `code` the directory of its scripts. Never throws. */
export function makeCodeCaches(node: string, code: string, names: readonly string[] = packedScripts): CodeCaches {
  const directory = join(code, cacheDirectory);
  const written: string[] = [];
  try {
    if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(directory);
    // A volume of the kubelet may be writable by others.
    const isNew = makeDirectory(directory, directoryMode);
    if (!isNew && (lstatSync(directory).mode & 0o022) !== 0) chmodSync(directory, directoryMode);
    const made = spawnSync(node, ["--disable-warning=ExperimentalWarning", "-e", program, "--", code, directory, ...names], {
      env: {},
      encoding: "utf8",
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    for (const cache of (made.stdout ?? "").split("\n").filter((line) => line !== "")) {
      // V8 checks no digest of a cache's content, so a cache gets its name when it is whole on the disk.
      syncToDisk(`${cache}.new`);
      renameSync(`${cache}.new`, cache);
      written.push(cache);
    }
    if (written.length > 0) syncToDisk(directory);
    if (made.status === 0) return { written, failed: null };
    return { written, failed: made.error?.message ?? `${made.signal ?? `status ${made.status}`}: ${made.stderr.trim()}` };
  } catch (error) {
    return { written, failed: error instanceof Error ? error.message : String(error) };
  }
}
