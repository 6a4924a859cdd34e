// The journal of a running ADD: its records are written while steps run, and the reply waits for them. Some records say which links of the pod the
// ADD makes, by what the pod's network namespace has before and after it.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { JournalRecord, PodLinks } from "../../store/journal/entry.ts";
import type { OpenEntry } from "../../store/journal/journal.ts";
import { hasName, identityOf, type LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import { podLinks } from "../../store/journal/changed-entry.ts";
import { findInNamespace, lookIntoNamespace, type NamespaceLinks } from "../../system/netlink/namespace-links.ts";
import type { Call } from "../call.ts";

/** The plan is written with its first attachment marked as attempted, because that attachment's plugins run next. */
export const firstRecords: readonly JournalRecord[] = [{ attempted: 0 }];

/** The records of a running ADD. They are written while the next step runs, and the reply waits for them. */
export class Progress {
  readonly records: JournalRecord[];
  readonly #entry: OpenEntry;
  readonly #writes: Promise<Result<void>>[] = [];

  /** `written`: the records that the entry was opened with. */
  constructor(entry: OpenEntry, written: readonly JournalRecord[] = firstRecords) {
    this.#entry = entry;
    this.records = [...written];
  }

  /** Syncs the plan to the disk, so that it survives a power loss. */
  syncPlan(): Promise<Result<void>> {
    return this.#entry.sync();
  }

  /** Appends a record. The caller need not wait if a DEL after a crash would do without the record. */
  note(record: JournalRecord): Promise<Result<void>> {
    this.records.push(record);
    const appended = this.#entry.append(record);
    this.#track(appended);
    return appended;
  }

  /** Starts a write in the next turn of the event loop, after the requests of this turn. The reply waits for the write. */
  writeLater(write: () => Promise<Result<void>>): void {
    this.#track(nextTurn().then(write));
  }

  #track(write: Promise<Result<void>>): void {
    // `settled` and `end` handle a rejection. Until then it must not count as unhandled, which would end the daemon.
    write.catch(() => undefined);
    this.#writes.push(write);
  }

  /** Waits until all records are written and the plan is on the disk. The fault is the first of these writes. */
  async settled(): Promise<Result<void>> {
    const all = await Promise.all([this.syncPlan(), ...this.#writes]);
    return all.find((result) => !result.ok) ?? ok(undefined);
  }

  /** Waits for all writes, and closes the entry. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#writes);
    await this.#entry.close();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The links of the pod before the ADD; undefined if they are unknown, because the namespace could not be looked into. */
export type LinksBefore = NamespaceLinks | undefined;

/** Looks into a network namespace. An unreadable namespace counts as unknown: the plugins decide whether they need it. */
export async function linksOf(shim: Call["shim"], netns: string): Promise<LinksBefore> {
  const seen = await lookIntoNamespace(shim, netns);
  return seen.ok && seen.value !== "gone" ? seen.value : undefined;
}

/**
 * Records the links that have a name of these attachments already. Call it before the first step: the undo of a failed ADD must not remove
 * them. Fault STORE_FAILED.
 */
export async function recordEarlierLinks(
  progress: Progress,
  before: LinksBefore,
  ifnames: readonly string[],
  known: PodLinks = {},
): Promise<Result<void>> {
  const found = earlierLinks(before, ifnames);
  if (found.length === 0) return { ok: true, value: undefined };
  const earlier = [...(known.earlier ?? []), ...found];
  return progress.note({ pod: podLinks({ cookie: before?.cookie, made: known.made, earlier }) });
}

/** The links that have these names, by the names. */
function earlierLinks(before: LinksBefore, ifnames: readonly string[]): readonly LinkIdentity[] {
  return ifnames.flatMap((ifname) => {
    const found = before?.links.find((link) => hasName(link, ifname));
    return found === undefined ? [] : [{ ...identityOf(found), name: ifname }];
  });
}

/** Maximum number of links besides those of the attachments: a running pod makes as many as it likes. */
const maxFurther = 64;

/**
 * Looks into the pod's namespace after the last step, and records its cookie and the links that are new. `ifnames`: the interface names of the
 * attachments. Never a fault of its own: without the record a DEL finds the links by their names.
 */
export async function recordMadeLinks(
  { shim }: Call,
  netns: string,
  progress: Progress,
  before: LinksBefore,
  ifnames: readonly string[],
  known: PodLinks = {},
): Promise<void> {
  const all = await lookIntoNamespace(shim, netns);
  const seen = all.ok ? all : await findInNamespace(shim, netns, { indexes: [], names: ifnames });
  if (!seen.ok || seen.value === "gone") return;
  const after = seen.value;
  const indexes = before && new Set(before.links.map(({ index }) => index));
  const isNew = ({ index, name }: NamespaceLinks["links"][number]): boolean =>
    indexes === undefined ? ifnames.includes(name) : !indexes.has(index);
  const fresh = after.links.filter(isNew).map(identityOf);
  const own = fresh.filter(({ name }) => ifnames.includes(name));
  const further = fresh.filter((link) => !own.includes(link)).slice(0, Math.max(0, maxFurther - (known.made?.length ?? 0)));
  const found = [...own, ...further];
  const names = new Set(found.map(({ name }) => name));
  const made = [...(known.made ?? []).filter(({ name }) => !names.has(name)), ...found];
  const earlier = [...(known.earlier ?? []), ...earlierLinks(before, ifnames)];
  void progress.note({ pod: podLinks({ cookie: after.cookie, made, earlier }) });
}
