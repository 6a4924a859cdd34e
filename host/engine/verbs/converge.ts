// Makes deletion converge (RT-07). A runtime repeats a DEL until it succeeds, and keeps the pod's sandbox until then. A DEL that fails
// again and again (plugin uninstalled, grant revoked, backend broken) is given up: the runtime gets a success, the entry becomes a
// record of an abandoned attachment, and the log names the addresses and links that may have leaked. A GC, a further DEL and the next ADD try again
// to undo abandoned attachments: by then the plugin may be able to.

import { type Fault, fault, joinFaults } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import { type Call, journalKey, isOfAnotherBoot } from "../call.ts";
import { withoutReusedAddresses } from "../record/reused-addresses.ts";
import { type Choose, undoEntry, type UndoOptions } from "./undo.ts";
import type { AbandonedFile } from "../../store/journal/abandoned.ts";
import { CurrentNetworks } from "../plan/current-network.ts";
import { entriesOf, withoutSharedResults } from "../../store/journal/shared-addresses.ts";
import type { JournalKey } from "../../store/journal/entry-file.ts";

/** Maximum characters of the reason that the journal keeps with each failed DEL. */
const maxReasonChars = 300;

/**
 * Undoes a journal entry. A failure is counted. After `del.tries` failures in at least `del.seconds` seconds, the entry is abandoned
 * with a warning, and the result is a success. If the namespace is gone, the seconds do not matter.
 */
export async function undoOrAbandon(
  call: Call,
  entry: JournalEntry,
  netns: string,
  options: Omit<UndoOptions, "keeper"> = {},
): Promise<Result<void>> {
  const undone = await undoEntry(call, withoutReusedAddresses(call, entry), netns, options);
  return undone.ok ? undone : countFailedDel(call, entry, netns, undone.fault);
}

/** Counts a failed DEL. Returns the DEL's fault, or a success if the entry is abandoned now. */
export async function countFailedDel(call: Call, entry: JournalEntry, netns: string, cause: Fault): Promise<Result<void>> {
  const { journal, abandoned, configuration } = call;
  const { plan, failures } = entry;
  const now = call.clock.date();
  const noted = journal.append(plan, { failed: now.toISOString(), why: cause.msg.slice(0, maxReasonChars) });
  const { count, since } = countedFailures(call, plan, failures, now, noted);
  const seconds = (now.getTime() - Date.parse(since)) / 1000;
  const { tries, seconds: minSeconds } = configuration.del;
  const due = async (): Promise<boolean> =>
    plan.assumed === true ||
    // A time in the future is of a clock that was ahead, and NaN of a malformed time. The count alone decides then: the sandbox must not stay until the
    // clock has caught up.
    !(seconds >= 0 && seconds < minSeconds) ||
    isOfAnotherBoot(call, entry) ||
    (await call.namespaceIsGone(netns));
  if (count < tries || !(await due())) {
    const terms =
      plan.assumed === true
        ? `no attachment of the container is known, so DEL is given up after ${tries} failures`
        : `DEL is given up after ${tries} failures and ${minSeconds} s`;
    const history = `DEL failed ${count} times since ${since}; ${terms}`;
    return failed({ ...cause, details: cause.details === undefined ? history : `${cause.details}\n${history}` });
  }
  if (plan.assumed === true) {
    call.warn(
      `DEL of container ${plan.containerId} failed ${count} times since ${since} and is given up: ${cause.msg}. ` +
        `No attachment of this container is known, so there is no record of it`,
    );
    return journal.remove(plan);
  }
  // The entry is read again, because this DEL may have undone some of its attachments.
  const current = journal.load(plan);
  const leaked = leakedOf((current.ok ? current.value : undefined) ?? entry);
  const path = abandoned.take(journal, plan);
  if (!path.ok) return failed(joinFaults([cause, path.fault]) ?? cause);
  // The record has all that is known of the attachments. Without the cached results a later DEL does not try them again.
  for (const { network, ifname } of plan.attachments) {
    await call.cache.remove({ containerId: plan.containerId, network, ifname });
  }
  call.warn(
    `ABANDONED: DEL of container ${plan.containerId}, network ${plan.network}, ${plan.ifname} failed ${count} times since ${since} ` +
      `and is given up, so that its sandbox can go. These may have leaked: ${leaked.join("; ")}. ` +
      `The last reason: ${sentences([cause.msg, ...(cause.details?.split("\n") ?? [])])} ` +
      `The next GC or DEL tries again, from ${path.value}`,
  );
  return ok(undefined);
}

/** Joins lines to a text in which each line ends as a sentence. */
function sentences(lines: readonly string[]): string {
  return lines.map((line) => (/[.!?\]]$/.test(line) ? line : `${line}.`)).join(" ");
}

/** A text for each attachment that was not undone, with its addresses and its links on the host, which may have leaked. */
function leakedOf({ plan, progress }: JournalEntry): readonly string[] {
  return plan.attachments.flatMap(({ source, ifname }, index) => {
    const { undone = false, result = "{}" } = progress[index] ?? {};
    return undone ? [] : [[`${source} as ${ifname}`, ...namesIn(result)].join(" ")];
  });
}

function namesIn(result: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(result);
    if (!isJsonObject(value)) return [];
    const addresses = listOf(value["ips"]).flatMap(({ address }) => (typeof address === "string" ? [address] : []));
    const links = listOf(value["interfaces"]).flatMap(({ name, sandbox = "" }) =>
      typeof name === "string" && sandbox === "" ? [`link ${name}`] : [],
    );
    return [...addresses, ...links];
  } catch {
    return [];
  }
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/**
 * Undoes one abandoned attachment, as far as `choose` allows. `CNI_NETNS` is empty, because the namespace of its ADD is gone and the path may be another pod's.
 * The record is removed when all is undone. The caller holds the container's lock. Fault: the reason why the record stays.
 */
export async function finishAbandoned(call: Call, file: AbandonedFile, choose: Choose = () => true): Promise<Result<void>> {
  const loaded = call.abandoned.load(file);
  if (!loaded.ok) return loaded;
  if (loaded.value === undefined) return { ok: true, value: undefined };
  const live = call.journal.load(file.key);
  // Plugins identify an attachment by container and interface name, so they would undo the newer one.
  if (!live.ok || live.value !== undefined) {
    const why = `container ${file.key.containerId} is attached again as ${file.key.ifname}`;
    return failed(fault("ALREADY_ATTACHED", `${why}; the abandoned attachment is undone after the DEL of the new one`));
  }
  const networks = new CurrentNetworks(call);
  return undoEntry(call, withoutSharedResults(loaded.value, file.key, entriesOf(call.journal)), "", {
    choose: async (list, planned) => (await networks.mayCollect(list, planned)) && (await choose(list, planned)),
    keeper: call.abandoned.keeper(file),
  });
}

/**
 * Tries again to undo the abandoned attachments of this call. A failure is a warning and not a fault, because the runtime's DEL has
 * already succeeded. Returns whether there was any record.
 */
export async function retryAbandoned(call: Call): Promise<boolean> {
  const files = call.abandoned.list(journalKey(call));
  if (!files.ok) call.warn(files.fault.msg);
  for (const file of files.ok ? files.value : []) {
    const finished = await finishAbandoned(call, file);
    if (!finished.ok) call.warn(`still abandoned: ${file.path}: ${finished.fault.msg}`);
  }
  return files.ok && files.value.length > 0;
}

/** Failures that the journal could not note, by entry. */
const unnoted = new Map<string, { count: number; readonly since: string }>();
/** The journal of a node with a full disk has some hundred entries; beyond this number the oldest count begins anew. */
const maxUnnoted = 4096;

/**
 * The failures of an entry's DELs, the present one included. `noted`: those in the journal; `written`: whether the journal could note the present one.
 */
export function countedFailures(
  { configuration: { cniDir } }: Call,
  { containerId, network, ifname }: JournalKey,
  noted: JournalEntry["failures"],
  now: Date,
  written: Result<void>,
): { readonly count: number; readonly since: string } {
  const key = JSON.stringify([cniDir, containerId, network, ifname]);
  const earlier = unnoted.get(key);
  const since = noted.since ?? earlier?.since ?? now.toISOString();
  if (!written.ok) {
    unnoted.delete(key);
    unnoted.set(key, { count: (earlier?.count ?? 0) + 1, since });
    const [oldest] = unnoted.size > maxUnnoted ? unnoted.keys() : [];
    if (oldest !== undefined) unnoted.delete(oldest);
  }
  return { count: noted.count + (earlier?.count ?? 0) + 1, since };
}
