// How deletion converges (RT-07): a runtime repeats a DEL until it succeeds, and keeps the pod's sandbox as long. One that goes
// on failing (a plugin uninstalled, a grant revoked, a broken backend) is given up in the end: the runtime gets its success, the
// entry is kept as left behind, and the log names what may have leaked.

import type { Fault } from "../../src/fault/fault.ts";
import { joinFaults } from "../../src/fault/join-faults.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { isJsonObject } from "../../src/json/document.ts";
import type { JournalEntry } from "../journal/entry.ts";
import type { CallContext } from "./call-context.ts";
import { isOfAnotherBoot, undoEntry, type UndoInit } from "./undo.ts";

/** Characters of a reason that are kept with each failed try. */
const longestWhy = 300;

/**
 * Undoes a journalled entry. Where that fails, the try is counted; after as many tries as the configuration says, over as long a
 * time (or however short, where the namespace is gone), the entry is left behind with a warning, and this succeeds.
 */
export async function undoOrLeave(
  context: CallContext,
  entry: JournalEntry,
  netns: string,
  init: Omit<UndoInit, "keeper"> = {},
): Promise<Result<void>> {
  const undone = await undoEntry(context, entry, netns, init);
  return undone.ok ? undone : failedAgain(context, entry, netns, undone.fault);
}

/** Counts a DEL that failed: answers its fault, or success once the entry has been left behind. */
export async function failedAgain(context: CallContext, entry: JournalEntry, netns: string, cause: Fault): Promise<Result<void>> {
  const { journal, leftBehind, configuration } = context;
  const { plan, failures } = entry;
  const now = context.date();
  journal.append(plan, { failed: now.toISOString(), why: cause.msg.slice(0, longestWhy) });
  const count = failures.count + 1;
  const since = failures.since ?? now.toISOString();
  const seconds = (now.getTime() - Date.parse(since)) / 1000;
  const { tries, seconds: atLeast } = configuration.del;
  const due = async (): Promise<boolean> =>
    plan.assumed === true ||
    // Not a number where the entry's time is none: then the count is enough.
    !(seconds < atLeast) ||
    isOfAnotherBoot(context, entry) ||
    (await context.namespaceIsGone(netns));
  if (count < tries || !(await due())) {
    const terms =
      plan.assumed === true
        ? `nothing is known of the container, so it is given up after ${tries} times`
        : `it is given up after ${tries} times and ${atLeast} s`;
    const told = `DEL failed ${count} times since ${since}; ${terms}`;
    return failed({ ...cause, details: cause.details === undefined ? told : `${cause.details}\n${told}` });
  }
  if (plan.assumed === true) {
    context.warn(
      `DEL of container ${plan.containerId}, of which nothing is known, failed ${count} times since ${since} and is given up: ${cause.msg}`,
    );
    return journal.remove(plan);
  }
  // As it is now: what this very DEL undid is not left.
  const current = journal.load(plan);
  const leaked = leakedOf((current.ok ? current.value : undefined) ?? entry);
  const path = leftBehind.take(journal, plan);
  if (!path.ok) return failed(joinFaults([cause, path.fault]) ?? cause);
  // What is known of them is in the record; a later DEL must not try them again.
  for (const { network, ifname } of plan.attachments) {
    await context.cache.remove({ containerId: plan.containerId, network, ifname });
  }
  context.warn(
    `LEFT BEHIND: DEL of container ${plan.containerId}, network ${plan.network}, ${plan.ifname} failed ${count} times since ${since} ` +
      `and is given up, so that its sandbox can go. These may have leaked: ${leaked.join("; ")}. ` +
      `The last reason: ${sentences([cause.msg, ...(cause.details?.split("\n") ?? [])])} ` +
      `The next GC or DEL tries again, from ${path.value}`,
  );
  return ok(undefined);
}

/** Lines as sentences, one after the other. */
function sentences(lines: readonly string[]): string {
  return lines.map((line) => (/[.!?\]]$/.test(line) ? line : `${line}.`)).join(" ");
}

/** What each attachment that was not undone may have left: its addresses and the host's links. */
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
