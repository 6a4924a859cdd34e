// Lists a journal's entries. An entry is read again only if its file changed.

import { lstatSync } from "node:fs";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import type { Result } from "../../../src/fault/result.ts";
import { poolsDirectory } from "../../store/files/pools-directory.ts";
import { type Grants, leasePlaces, leaseRoots } from "../../../src/reconcile/lease-places.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import { fileNameOf, type JournalKey } from "../../store/journal/entry-file.ts";
import type { Journal } from "../../store/journal/journal.ts";
import { inTurns } from "../../system/in-turns.ts";

/** A journal entry, and the state of its file when it was read. */
export interface ListedEntry {
  readonly key: JournalKey;
  /** Identifies the ADD and its container. */
  readonly id: string;
  /** Changes with every write to the file. */
  readonly version: string;
  readonly entry: JournalEntry;
  /** Start of the ADD, or the last write if the start is unknown; ms of the time of day. */
  readonly begunAt: number;
  /** The last write; ms of the time of day. */
  readonly touchedAt: number;
  /** Directories that may hold leases of its attachments. */
  readonly leasePlaces: readonly string[];
}

/** A journal entry that cannot be read. */
export interface DamagedEntry {
  readonly key: JournalKey;
  readonly why: string;
}

/** The entries of one look at the journal. */
export interface Listed {
  readonly entries: readonly ListedEntry[];
  readonly damaged: readonly DamagedEntry[];
}

type GrantsOf = (configuration: string) => Grants | undefined;

/** A list of entries that can be read anew. */
export interface EntrySource {
  refresh(): Promise<Result<Listed>>;
}

/** The list of one journal. */
export class EntryList implements EntrySource {
  readonly #journal: Journal;
  readonly #poolsRoot: string;
  readonly #grantsOf: GrantsOf;
  #known: ReadonlyMap<string, ListedEntry> = new Map();

  /** The journal is in the state directory `cniDir`. `grantsOf`: the grants of a configuration, by its name; undefined if it is not known. */
  constructor(journal: Journal, cniDir: string, grantsOf: GrantsOf = () => undefined) {
    this.#journal = journal;
    this.#grantsOf = grantsOf;
    this.#poolsRoot = poolsDirectory(cniDir);
  }

  /** The current entries. Fault STORE_FAILED if the directory cannot be listed. */
  async refresh(): Promise<Result<Listed>> {
    const keys = this.#journal.list();
    if (!keys.ok) return keys;
    const known = new Map<string, ListedEntry>();
    const damaged: DamagedEntry[] = [];
    for await (const key of inTurns(keys.value)) {
      const version = versionOf(this.#journal.pathOf(key));
      if (version === undefined) continue;
      const name = fileNameOf(key);
      const before = this.#known.get(name);
      if (before?.version === version.text) {
        known.set(name, before);
        continue;
      }
      const loaded = this.#journal.load(key);
      if (!loaded.ok) damaged.push({ key, why: loaded.fault.msg });
      else if (loaded.value !== undefined) known.set(name, this.#listed(key, version, loaded.value));
    }
    this.#known = known;
    return { ok: true, value: { entries: [...known.values()], damaged } };
  }

  #listed(key: JournalKey, { text, writtenAt }: Version, entry: JournalEntry): ListedEntry {
    const begun = Date.parse(entry.plan.begun ?? "");
    return {
      key,
      id: `${fileNameOf(key)} ${entry.plan.begun ?? ""} ${entry.plan.netns}`,
      version: text,
      entry,
      begunAt: Number.isNaN(begun) ? writtenAt : begun,
      touchedAt: writtenAt,
      leasePlaces: this.#placesOf(entry),
    };
  }

  #placesOf({ plan }: JournalEntry): readonly string[] {
    const grants = this.#grantsOf(plan.network);
    const places = plan.attachments.flatMap(({ conflist, network, definition }) => {
      const list = conflist === "" ? undefined : parseNetworkList(conflist, `journalled configuration of ${network}`);
      return list?.ok === true ? leasePlaces(list.value, (type) => leaseRoots(grants, definition, type, this.#poolsRoot)) : [];
    });
    return [...new Set(places)];
  }
}

interface Version {
  readonly text: string;
  readonly writtenAt: number;
}

/** The file's version; undefined if there is no file. */
function versionOf(path: string): Version | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats && { text: `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`, writtenAt: stats.mtimeMs };
}

/** Whether the entry's file is unchanged since it was listed. */
export function isUnchanged(journal: Journal, { key, version }: ListedEntry): boolean {
  return versionOf(journal.pathOf(key))?.text === version;
}
