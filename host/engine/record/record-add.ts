// The journal of a running ADD: its progress, written while steps run; and the links of the pod that it makes, by what the pod's network namespace has before and after
// the ADD, and in a running pod by the ADD's answer.

import type { CniResult } from "../../../src/cni/result.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { hasName, identityOf, type LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import { answeredInterface, answeredLink, nodeLinkNames, otherEnds, unansweredLink } from "../../../src/pod-link/new-link.ts";
import { podLinks } from "../../store/journal/entry-file.ts";
import type { PodLinks, JournalRecord } from "../../store/journal/entry.ts";
import type { OpenEntry } from "../../store/journal/journal.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import {
  findInNamespace,
  lookIntoNamespace,
  type NamespaceLinks,
  type WantedLinks,
} from "../../system/netlink/namespace-links.ts";
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
const maxOtherLinks = 64;

/**
 * Looks into the namespace of a new pod after the last step, and records its cookie and the links that are new. No container of the pod runs, so the names are
 * those of the plugins. `ifnames`: the interface names of the attachments. Never a fault of its own: without the record a DEL finds the links by their names.
 */
export async function recordMadeLinks(
  { shim, configuration }: Call,
  netns: string,
  progress: Progress,
  before: LinksBefore,
  ifnames: readonly string[],
): Promise<void> {
  const seen = await linksAfter(shim, netns, { indexes: [], names: ifnames });
  if (!seen.ok || seen.value === "gone") return;
  const after = seen.value;
  const fresh = newLinks(after, before) ?? after.links.filter(({ name }) => ifnames.includes(name));
  const own = fresh.filter(({ name }) => ifnames.includes(name));
  const others = fresh.filter((link) => !own.includes(link)).slice(0, maxOtherLinks);
  const links = [...own, ...others].map(identityOf);
  const made = await journalledLinks(shim, configuration, links);
  void progress.note({ pod: podLinks({ cookie: after.cookie, made, earlier: earlierLinks(before, ifnames) }) });
}

/**
 * As `recordMadeLinks`, for one attachment of a running pod, whose processes may make and rename links meanwhile: the ADD's answer tells the attachment's link,
 * which is recorded under its name after the ADD. `known`: the pod's links of earlier records.
 */
export async function recordAddedLink(
  { shim, configuration }: Call,
  netns: string,
  progress: Progress,
  { ifname, result, before, known = {} }: AddedLink,
): Promise<void> {
  const looked = await lookAfter(shim, netns, { ifname, result, before });
  if (!looked.ok || looked.value === undefined) return;
  const { after, fresh, own } = looked.value;
  const others = fresh.filter((link) => link !== own && !hasName(link, ifname));
  const found = [
    ...(own === undefined ? [] : [{ ...identityOf(own), name: ifname }]),
    ...others.slice(0, Math.max(0, maxOtherLinks - (known.made?.length ?? 0))).map(identityOf),
  ];
  const names = new Set([ifname, ...found.map(({ name }) => name)]);
  const added = await journalledLinks(shim, configuration, found);
  const made = [...(known.made ?? []).filter(({ name }) => !names.has(name)), ...added];
  const earlier = [...(known.earlier ?? []), ...earlierLinks(before, [ifname])];
  void progress.note({ pod: podLinks({ cookie: after.cookie, made, earlier }) });
}

/** One attachment of a running pod after its ADD. */
export interface AddedLink {
  readonly ifname: string;
  /** The answer of the ADD. */
  readonly result: CniResult;
  /** The pod's links before the ADD. */
  readonly before: LinksBefore;
  readonly known?: PodLinks | undefined;
}

/** The attachment's link in a running pod after its ADD; undefined if no link is known to be it. Fault NETLINK_FAILED. */
export async function addedLink({ shim }: Call, netns: string, added: AddedLink): Promise<Result<LinkState | undefined>> {
  const looked = await lookAfter(shim, netns, added);
  return looked.ok ? ok(looked.value?.own) : looked;
}

/** One attachment of a running pod whose ADD failed. */
export type UnansweredLink = Omit<AddedLink, "result">;

/**
 * Records the link that a failed ADD has left in a running pod, so that its undo finds the link under any name. Never a fault of its own: without the record
 * the undo goes by the name.
 */
export async function recordLeftLink(
  call: Call,
  netns: string,
  progress: Progress,
  { ifname, before, known = {} }: UnansweredLink,
): Promise<void> {
  const found = await leftLink(call, netns, { ifname, before, known });
  if (!found.ok || found.value === undefined) return;
  const made = [...(known.made ?? []).filter(({ name }) => name !== ifname), { ...identityOf(found.value), name: ifname }];
  const earlier = [...(known.earlier ?? []), ...earlierLinks(before, [ifname])];
  void progress.note({ pod: podLinks({ cookie: before?.cookie ?? known.cookie, made, earlier }) });
}

/** The link that a failed ADD has left in a running pod; undefined if no link is known to be it. Fault NETLINK_FAILED. */
export async function leftLink(
  { shim }: Call,
  netns: string,
  { ifname, before, known = {} }: UnansweredLink,
): Promise<Result<LinkState | undefined>> {
  const seen = await lookIntoNamespace(shim, netns);
  if (!seen.ok || seen.value === "gone") return seen.ok ? ok(undefined) : seen;
  const { links, cookie } = seen.value;
  const fresh = newLinks(seen.value, before);
  if (fresh === undefined || fresh.length === 0 || cookie !== before?.cookie) return ok(undefined);
  const indexes = otherEnds(fresh);
  const ends = await nodeLinks(shim, { indexes, names: [] });
  return ok(unansweredLink({ ifname, links, fresh, made: known.made ?? [] }, ends));
}

/** The links of a running pod after an ADD. */
interface LookAfter {
  readonly after: NamespaceLinks;
  /** The links that were not there before. */
  readonly fresh: readonly LinkState[];
  /** The attachment's link. */
  readonly own: LinkState | undefined;
}

/** Looks into a running pod; undefined if its namespace is gone. */
async function lookAfter(
  shim: Call["shim"],
  netns: string,
  { ifname, result, before }: AddedLink,
): Promise<Result<LookAfter | undefined>> {
  // Without the node's links the pod's links alone decide.
  const answered = await nodeLinks(shim, { indexes: [], names: nodeLinkNames(result) });
  const indexes = answered.flatMap(({ link }) => link ?? []);
  const seen = await linksAfter(shim, netns, { indexes, names: [ifname] });
  if (!seen.ok || seen.value === "gone") return seen.ok ? ok(undefined) : seen;
  const after = seen.value;
  const fresh = newLinks(after, before) ?? after.links;
  return ok({ after, fresh, own: answeredLink(fresh, answeredInterface(result, ifname), answered) });
}

/** The pod's links after an ADD; `wanted` alone where the pod has more links than one look shows. */
async function linksAfter(shim: Call["shim"], netns: string, wanted: WantedLinks): ReturnType<typeof findInNamespace> {
  const all = await lookIntoNamespace(shim, netns);
  return all.ok ? all : findInNamespace(shim, netns, wanted);
}

/** The links as the journal gets them: for a watch over links with the masters of their ends on the node. */
export async function journalledLinks(
  shim: Call["shim"],
  { linkWatch }: Call["configuration"],
  links: readonly LinkIdentity[],
): Promise<readonly LinkIdentity[]> {
  return linkWatch === undefined
    ? links
    : (await import("./node-masters.ts")).withNodeMasters(links, (wanted) => nodeLinks(shim, wanted));
}

/** The node's links of these indexes or names. None if the node cannot be asked. */
async function nodeLinks(shim: Call["shim"], wanted: WantedLinks): Promise<NamespaceLinks["links"]> {
  const found = wanted.indexes.length + wanted.names.length === 0 ? undefined : await findInNamespace(shim, "", wanted);
  return found?.ok === true && found.value !== "gone" ? found.value.links : [];
}

/** The links that were not there before; undefined if those before are unknown. */
function newLinks(after: NamespaceLinks, before: LinksBefore): NamespaceLinks["links"] | undefined {
  const indexes = before && new Set(before.links.map(({ index }) => index));
  return indexes && after.links.filter(({ index }) => !indexes.has(index));
}
