// Remembers on the disk which components were admitted. A node that is busy or slow today may need more computing time for an admission than its
// limit; it must not refuse a component that it admitted yesterday. The record only lifts that limit: the component is examined again, because
// the examination's result is the link plan.

import { readdirSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { replaceDurably } from "../../store/files/replace-durably.ts";
import { version } from "../../system/version.ts";
import type { Limits } from "../limits.ts";
import { admissionRules } from "./admission-rules.ts";

/** Maximum records; the oldest ones are removed. */
const maxRecords = 256;
const maxBytes = 1024;
const recordName = /^[0-9a-f]{64}$/u;
const digestName = /^sha256:[0-9a-f]{64}$/u;

/** The records in one directory, a file for each component. */
export class AdmittedComponents {
  readonly #directory: string;
  readonly #fromShare: number;
  readonly #kept = new Set<string>();
  #lastWrite: Promise<void> = Promise.resolve();

  /**
   * `fromShare`: admissions with less computing time, as a share of their limit, are not recorded. A one-shot engine would pay for the digest in
   * each call.
   */
  constructor(directory: string, fromShare = 0) {
    this.#directory = directory;
    this.#fromShare = fromShare;
  }

  /** Whether this version admitted the component with these limits, here, at any time. False for a record that cannot be read. */
  has(name: string, bytes: Uint8Array, limits: Limits): boolean {
    const digest = digestOf(name, bytes);
    try {
      return readRegularFile(this.#path(digest), { maxBytes, foreign: false }) === recordOf(digest, limits);
    } catch {
      return false;
    }
  }

  /**
   * Records an admission that took `cpuMs`. The promise resolves when the record is written or has failed; it never rejects. Without the
   * record, only the time limit holds.
   */
  keep(name: string, bytes: Uint8Array, limits: Limits, cpuMs: number | undefined): Promise<void> {
    if ((cpuMs ?? Infinity) < this.#fromShare * limits.admissionMs) return this.#lastWrite;
    const digest = digestOf(name, bytes);
    const record = recordOf(digest, limits);
    if (this.#kept.has(record)) return this.#lastWrite;
    this.#kept.add(record);
    this.#lastWrite = this.#lastWrite.then(() => this.#write(digest, record)).catch(() => undefined);
    return this.#lastWrite;
  }

  async #write(digest: string, record: string): Promise<void> {
    await replaceDurably(this.#path(digest), record);
    for (const old of recordsOf(this.#directory).slice(maxRecords)) unlinkSync(join(this.#directory, old));
  }

  #path(digest: string): string {
    return join(this.#directory, digest.slice("sha256:".length));
  }
}

/** The component's digest, from its name if that has it. */
function digestOf(name: string, bytes: Uint8Array): string {
  if (digestName.test(name)) return name;
  // Loaded when needed: node:crypto takes time to load.
  return `sha256:${process.getBuiltinModule("node:crypto").hash("sha256", bytes, "hex")}`;
}

/** Everything that an admission's result depends on. */
function recordOf(digest: string, { memoryPages, tableEntries, coreInstances, componentBytes }: Limits): string {
  return `${JSON.stringify({ plexus: version, rules: admissionRules, digest, memoryPages, tableEntries, coreInstances, componentBytes })}\n`;
}

/** Names of the records, newest first. */
function recordsOf(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => recordName.test(name))
    .map((name) => ({ name, at: statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((one, other) => other.at - one.at)
    .map(({ name }) => name);
}
