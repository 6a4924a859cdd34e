// The directories in which networks of this node had leases, on the disk: an address may remain there although no attachment of the network is
// left, for example because the pool is full of leases without an owner and no pod can attach. Rounds and DELs write the list, in several
// processes, so each use reads it anew. A lost update is written again by the next DEL.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ok, type Result } from "../../../src/fault/result.ts";
import { readRegularFile } from "./regular-file.ts";
import { writeShared } from "./shared-file.ts";

/** Maximum directories that are kept. The oldest are forgotten first. */
const maxDirectories = 256;

/** The lease directories of one state directory. */
export class LeaseDirectories {
  readonly #path: string;
  /** The directories that this process could not write to the list. */
  #unwritten: readonly string[] = [];

  constructor(stateDirectory: string) {
    this.#path = join(stateDirectory, "lease-directories");
  }

  /** All directories, absolute. */
  get all(): ReadonlySet<string> {
    const lines = linesOf(this.#path).filter((line) => line.startsWith("/"));
    return new Set([...lines, ...this.#unwritten].slice(-maxDirectories));
  }

  /** Adds those of the directories that exist. Writes only if one is new. Fault STORE_FAILED: the new ones are then known to this object only. */
  add(directories: Iterable<string>): Result<void> {
    const known = this.all;
    const added = [...directories].filter((path) => !known.has(path) && !path.includes("\n") && existsSync(path));
    if (added.length === 0) return ok(undefined);
    const kept = [...known, ...added].slice(-maxDirectories);
    const written = writeShared(this.#path, [...kept, ""].join("\n"));
    this.#unwritten = written.ok ? [] : [...this.#unwritten, ...added].slice(-maxDirectories);
    return written;
  }
}

function linesOf(path: string): readonly string[] {
  try {
    return (readRegularFile(path, { maxBytes: 1024 * 1024, foreign: false }) ?? "").split("\n");
  } catch {
    // The file is missing or damaged. The next DEL or round writes the list again.
    return [];
  }
}
