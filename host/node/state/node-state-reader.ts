// Reads the state of a node. Entries that haven't changed are not read again, so that a scrape costs a look at each file's size.

import { constants, type Stats } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as immediately } from "node:timers/promises";
import { getSystemErrorName } from "node:util";
import { defaultLeaseDirectory } from "../../src/configuration/wasm-configuration.ts";
import { keyOfFileName, parseEntry } from "../journal/entry-file.ts";
import { inertLine } from "../sandbox/inert-text.ts";
import { isLease } from "./address-pools.ts";
import { type EntrySummary, summaryOf } from "./entry-summary.ts";
import type { EntryCounts, NetworkState, NodeState, PoolState } from "./node-state.ts";

/** Bytes of an entry that is told of; a longer one is only counted. */
const longestEntry = 2 * 1024 * 1024;
/** Entries that are told of. */
const mostEntries = 5000;
/** Pools: names of networks are others'. */
const mostPools = 1000;
const mostProblems = 20;
/** Names of leases that are looked at before others have their turn. */
const breath = 4096;
/** A directory that changed so long ago has another time when it changes again, in ms. */
const settledMs = 100;

interface Known {
  readonly version: string;
  readonly summary: EntrySummary | undefined;
}

interface Entries extends EntryCounts {
  readonly summaries: readonly EntrySummary[];
}

export class NodeStateReader {
  /** Where delegates keep leases whose configuration names no directory. */
  leaseDirectory: string;
  readonly #stateDirectory: string;
  /** When a pool's directory last changed, and its leases then. */
  readonly #leases = new Map<string, { readonly mtimeMs: number; readonly used: number | undefined }>();
  #known = new Map<string, Known>();

  constructor(stateDirectory: string, leaseDirectory: string = defaultLeaseDirectory) {
    this.#stateDirectory = stateDirectory;
    this.leaseDirectory = leaseDirectory;
  }

  /** Never rejects: what can't be read is a problem of the state. */
  async read(): Promise<NodeState> {
    const problems: string[] = [];
    const seen = new Map<string, Known>();
    const journal = await this.#entries("journal", seen, problems);
    const leftBehind = await this.#entries("left-behind", seen, problems);
    this.#known = seen;
    const summaries = [...journal.summaries, ...leftBehind.summaries];
    const attachments = summaries.flatMap((each) => each.attachments);
    return {
      stateDirectory: this.#stateDirectory,
      journal: { entries: journal.entries, bytes: journal.bytes },
      leftBehind: { entries: leftBehind.entries, bytes: leftBehind.bytes },
      attachments,
      networks: networksOf(summaries),
      pools: await this.#pools(summaries, problems),
      problems: problems.slice(0, mostProblems),
    };
  }

  async #entries(kind: "journal" | "left-behind", seen: Map<string, Known>, problems: string[]): Promise<Entries> {
    const directory = join(this.#stateDirectory, kind);
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
        if (entries > mostEntries || size > longestEntry) continue;
        const version = versionOf(found);
        let known = this.#known.get(path);
        if (known?.version !== version) {
          const text = await readText(path);
          const entry = parseEntry(path, text, key);
          // Its file may have become another's since it was opened (host/files/spares.ts): the next look is at what is there then.
          if (!entry.ok && versionOf(await stat(path)) !== version) continue;
          if (!entry.ok) problems.push(inertLine(entry.fault.msg, 512));
          known = { version, summary: entry.ok ? summaryOf(entry.value, text, kind === "left-behind") : undefined };
        }
        seen.set(path, known);
        if (known.summary !== undefined) summaries.push(known.summary);
      } catch (error) {
        // A DEL that ends meanwhile takes its entry away.
        if (codeOf(error) !== "ENOENT") problems.push(problemOf(path, error));
      }
    }
    return { entries, bytes, summaries };
  }

  async #pools(summaries: readonly EntrySummary[], problems: string[]): Promise<readonly PoolState[]> {
    const sizes = new Map<string, number | undefined>();
    // Pools that no attachment names may have leases all the same: leaked ones.
    for (const root of new Set([this.leaseDirectory, defaultLeaseDirectory])) {
      for (const network of await names(root, problems)) sizes.set(join(root, network), undefined);
    }
    for (const { dataDir, native, network, size } of summaries.flatMap(({ pools }) => pools)) {
      sizes.set(join(dataDir ?? (native ? defaultLeaseDirectory : this.leaseDirectory), network), size);
    }
    const states: PoolState[] = [];
    for (const directory of this.#leases.keys()) if (!sizes.has(directory)) this.#leases.delete(directory);
    for (const [directory, size] of [...sizes].slice(0, mostPools)) {
      const used = await this.#used(directory, problems);
      if (used !== undefined && (used > 0 || size !== undefined))
        states.push({ directory: inertLine(directory, 1024), used, size });
    }
    return states.toSorted((left, right) => (left.directory < right.directory ? -1 : 1));
  }

  /** Leases in a directory; undefined where nothing was ever reserved: not even a lock is there. Counted anew where it has changed. */
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
        if (index % breath === breath - 1) await immediately();
      }
      const told = files.length === 0 ? undefined : used;
      // Two changes may have one time.
      if (Date.now() - mtimeMs > settledMs) this.#leases.set(directory, { mtimeMs, used: told });
      return told;
    } catch (error) {
      if (!isAbsent(error)) problems.push(problemOf(directory, error));
      return undefined;
    }
  }
}

function networksOf(summaries: readonly EntrySummary[]): readonly NetworkState[] {
  const networks = new Map<string, NetworkState>();
  for (const each of summaries.flatMap((summary) => summary.networks)) {
    const key = `${each.source}\n${each.name}`;
    networks.set(key, { ...each, attachments: (networks.get(key)?.attachments ?? 0) + 1 });
  }
  return [...networks.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
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

/** Whatever stands in an entry's place, this neither waits nor follows a link. */
async function readText(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > longestEntry) throw new Error("is no entry");
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
