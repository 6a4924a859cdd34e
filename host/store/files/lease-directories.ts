// The directories in which networks of this node had leases, on the disk: an address may remain there although no attachment of the network is
// left, for example because the pool is full of leases without an owner and no pod can attach.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ok, type Result } from "../../../src/fault/result.ts";
import { writeDurably } from "./durable-file.ts";
import { readRegularFile } from "./regular-file.ts";

/** Maximum directories that are kept. The oldest are forgotten first. */
const maxDirectories = 256;

/** The lease directories of one state directory. */
export class LeaseDirectories {
  readonly #path: string;
  #known: ReadonlySet<string> | undefined;

  constructor(stateDirectory: string) {
    this.#path = join(stateDirectory, "lease-directories");
  }

  /** All directories, absolute. */
  get all(): ReadonlySet<string> {
    this.#known ??= new Set(linesOf(this.#path).filter((line) => line.startsWith("/")));
    return this.#known;
  }

  /** Adds those of the directories that exist. Writes only if one is new. Fault STORE_FAILED: the new ones are then known to this process only. */
  add(directories: Iterable<string>): Result<void> {
    const before = this.all;
    const added = [...directories].filter((path) => !before.has(path) && !path.includes("\n") && existsSync(path));
    if (added.length === 0) return ok(undefined);
    this.#known = new Set([...before, ...added].slice(-maxDirectories));
    return writeDurably(this.#path, [...this.#known, ""].join("\n"));
  }
}

function linesOf(path: string): readonly string[] {
  try {
    return (readRegularFile(path, { maxBytes: 1024 * 1024, foreign: false }) ?? "").split("\n");
  } catch {
    // Missing, or damaged by somebody else: the next attachment writes it again.
    return [];
  }
}
