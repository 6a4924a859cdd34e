// Reads the state of a node. Unchanged entries are not read again, so a scrape costs only a stat() of each file.

import { constants, type Stats } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as immediately } from "node:timers/promises";
import { getSystemErrorName } from "node:util";
import { defaultLeaseDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { abandonedDirectory } from "../../store/journal/abandoned.ts";
import { keyOfFileName, parseEntry } from "../../store/journal/entry-file.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { poolsDirectory } from "../../store/files/pools-directory.ts";
import { type Clock, systemClock } from "../../system/clock.ts";
import { isLease, type PoolConfiguration } from "./address-pools.ts";
import { type EntrySummary, summaryOf } from "./entry-summary.ts";
import type { EntryCounts, NetworkState, NodeState, PoolState } from "./node-state.ts";

/** Maximum size of an entry that is read, in bytes. Larger entries are only counted. */
const maxEntryBytes = 2 * 1024 * 1024;
/** Maximum entries that are read. */
const maxEntries = 5000;
/** Maximum pools: users choose the names of networks, so their number is not bounded otherwise. */
const maxPools = 1000;
const maxProblems = 20;
/** Lease files that are counted in one turn of the event loop. */
const batch = 4096;
/** If a directory's last change is older than this, in ms, a further change gets another modification time. */
const maxGranularityMs = 100;

interface Known {
  readonly version: string;
  readonly summary: EntrySummary | undefined;
}

interface Entries extends EntryCounts {
  readonly summaries: readonly EntrySummary[];
}

/** Reads one state directory repeatedly. */
export class NodeStateReader {
  /** The default directory for delegates' leases. */
  leaseDirectory: string;
  readonly #stateDirectory: string;
  readonly #clock: Clock;
  /** For each pool's directory, its modification time and the number of its leases then. */
  readonly #leases = new Map<string, { readonly mtimeMs: number; readonly used: number | undefined }>();
  #known = new Map<string, Known>();

  constructor(stateDirectory: string, leaseDirectory: string = defaultLeaseDirectory, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#stateDirectory = stateDirectory;
    this.leaseDirectory = leaseDirectory;
  }

  /** Reads the state. Never rejects: read errors become `problems` of the state. */
  async read(): Promise<NodeState> {
    const problems: string[] = [];
    const seen = new Map<string, Known>();
    const journal = await this.#entries("journal", "journal", seen, problems);
    const abandoned = await this.#entries("abandoned", abandonedDirectory, seen, problems);
    this.#known = seen;
    const summaries = [...journal.summaries, ...abandoned.summaries];
    const attachments = summaries.flatMap((each) => each.attachments);
    return {
      stateDirectory: this.#stateDirectory,
      journal: { entries: journal.entries, bytes: journal.bytes },
      abandoned: { entries: abandoned.entries, bytes: abandoned.bytes },
      attachments,
      networks: networksOf(summaries, (pool) => this.#directoryOf(pool)),
      pools: await this.#pools(summaries, problems),
      problems: problems.slice(0, maxProblems),
    };
  }

  async #entries(
    kind: "journal" | "abandoned",
    directoryName: string,
    seen: Map<string, Known>,
    problems: string[],
  ): Promise<Entries> {
    const directory = join(this.#stateDirectory, directoryName);
    let entries = 0;
    let bytes = 0;
    const summaries: EntrySummary[] = [];
    for (const name of await names(directory, problems)) {
      const key = keyOfFileName(kind === "journal" ? name : name.replace(/^\d+@/, ""));
      if (key === undefined) continue;
      const path = join(directory, name);
      try {
        const found = await stat(path);
        const { size } = found;
        entries += 1;
        bytes += size;
        if (entries > maxEntries || size > maxEntryBytes) continue;
        const version = versionOf(found);
        let known = this.#known.get(path);
        if (known?.version !== version) {
          const text = await readText(path);
          const entry = parseEntry(path, text, key);
          // The file may have been recycled for another entry meanwhile (host/store/files/recycled-files.ts): the next read gets the new one.
          if (!entry.ok && versionOf(await stat(path)) !== version) continue;
          if (!entry.ok) problems.push(inertLine(entry.fault.msg, 512));
          known = { version, summary: entry.ok ? summaryOf(entry.value, text, kind === "abandoned") : undefined };
        }
        seen.set(path, known);
        if (known.summary !== undefined) summaries.push(known.summary);
      } catch (error) {
        // A concurrent DEL may remove the entry.
        if (codeOf(error) !== "ENOENT") problems.push(problemOf(path, error));
      }
    }
    return { entries, bytes, summaries };
  }

  async #pools(summaries: readonly EntrySummary[], problems: string[]): Promise<readonly PoolState[]> {
    const sizes = new Map<string, number | undefined>();
    // Pools without attachments may have leaked leases.
    for (const root of new Set([this.leaseDirectory, defaultLeaseDirectory])) {
      for (const network of await names(root, problems)) sizes.set(join(root, network), undefined);
    }
    for (const pool of summaries.flatMap(({ networks }) => networks).flatMap(({ pools }) => pools)) {
      sizes.set(this.#directoryOf(pool), pool.size);
    }
    const states: PoolState[] = [];
    for (const directory of this.#leases.keys()) if (!sizes.has(directory)) this.#leases.delete(directory);
    for (const [directory, size] of [...sizes].slice(0, maxPools)) {
      const used = await this.#used(directory, problems);
      if (used !== undefined && (used > 0 || size !== undefined))
        states.push({ directory: shownDirectory(directory), used, size });
    }
    return states.toSorted((left, right) => (left.directory < right.directory ? -1 : 1));
  }

  #directoryOf({ dataDir, native, network, pool }: PoolConfiguration): string {
    if (pool !== undefined) return join(poolsDirectory(this.#stateDirectory), pool);
    return join(dataDir ?? (native ? defaultLeaseDirectory : this.leaseDirectory), network);
  }

  /** The number of leases in a directory; undefined if it is empty (not even a lock file), so that no address was ever reserved. */
  async #used(directory: string, problems: string[]): Promise<number | undefined> {
    try {
      const { mtimeMs } = await stat(directory);
      const known = this.#leases.get(directory);
      if (known?.mtimeMs === mtimeMs) return known.used;
      const files = await readdir(directory);
      let used = 0;
      for (const [index, name] of files.entries()) {
        if (isLease(name)) used += 1;
        // A range of 65,536 addresses can be full.
        if (index % batch === batch - 1) await immediately();
      }
      const counted = files.length === 0 ? undefined : used;
      // Two changes in quick succession may have the same modification time.
      if (this.#clock.date().getTime() - mtimeMs > maxGranularityMs) this.#leases.set(directory, { mtimeMs, used: counted });
      return counted;
    } catch (error) {
      if (!isAbsent(error)) problems.push(problemOf(directory, error));
      return undefined;
    }
  }
}

function networksOf(
  summaries: readonly EntrySummary[],
  directoryOf: (pool: PoolConfiguration) => string,
): readonly NetworkState[] {
  const networks = new Map<string, NetworkState>();
  for (const { pools, ...each } of summaries.flatMap((summary) => summary.networks)) {
    const key = `${each.source}\n${each.name}`;
    const directories = [...new Set(pools.map((pool) => shownDirectory(directoryOf(pool))))];
    networks.set(key, { ...each, pools: directories, attachments: (networks.get(key)?.attachments ?? 0) + 1 });
  }
  return [...networks.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function shownDirectory(directory: string): string {
  return inertLine(directory, 1024);
}

async function names(directory: string, problems: string[]): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).toSorted();
  } catch (error) {
    if (!isAbsent(error)) problems.push(problemOf(directory, error));
    return [];
  }
}

function versionOf({ ino, size, mtimeMs }: Stats): string {
  return `${ino}:${size}:${mtimeMs}`;
}

function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** Reads a regular file. Does not follow a link, and does not block if a pipe is at the path. */
async function readText(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > maxEntryBytes) throw new Error("is not a regular file, or is too large");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errno" in error && typeof error.errno === "number") return getSystemErrorName(error.errno);
  return undefined;
}

function problemOf(path: string, error: unknown): string {
  return inertLine(`${path}: ${codeOf(error) ?? (error instanceof Error ? error.message : String(error))}`, 512);
}
