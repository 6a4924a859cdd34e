// Judges journal entries by what the agent sees of their network namespaces. Observations are kept from round to round.

import { uptime } from "node:os";
import { type EntryFacts, judgeEntry, type Verdict } from "../../../src/reconcile/judge-entry.ts";
import { type Known, type Look, Sight } from "../../../src/reconcile/sight.ts";
import { bootId } from "../../system/boot-id.ts";
import { lookAtNamespace } from "../../protocol/look-at-namespace.ts";
import type { JournalEntry } from "../../store/journal/entry.ts";
import type { Agent } from "../agent-call.ts";
import type { ListedEntry } from "./entry-list.ts";
import { inTurns } from "../../system/in-turns.ts";
import type { ServedNamespaces } from "./served-namespaces.ts";
import type { Clock } from "../../system/clock.ts";

/** `bootId`: the kernel's. `bootedAt`: the start of this boot, in ms of the time of day. */
export interface Boot {
  readonly bootId: string;
  readonly bootedAt: number;
}

/** The current boot. */
export function currentBoot({ now, date }: Clock): Boot {
  // Each clock may show less than the time since boot: uptime in a container, CLOCK_MONOTONIC after a suspend. The longer one counts.
  return { bootId: bootId(), bootedAt: date().getTime() - Math.max(uptime() * 1000, now()) };
}

/** The judge of one state directory. */
export class EntryJudge {
  readonly #graceMs: number;
  readonly #served: ServedNamespaces;
  #sight: { readonly of: Agent; readonly sight: Sight } | undefined;
  /** Since when each entry's file is unchanged. */
  #unchanged: ReadonlyMap<string, { readonly version: string; readonly since: number }> = new Map();

  constructor(graceMs: number, served: ServedNamespaces) {
    this.#graceMs = graceMs;
    this.#served = served;
  }

  /** A verdict for each entry's id. Call it once a round, with all entries. Throws ShimGone. */
  async judge(
    entries: readonly ListedEntry[],
    agent: Agent | undefined,
    { now, date }: Clock,
  ): Promise<ReadonlyMap<string, Verdict>> {
    const looks: Look[] = [];
    for await (const { id, entry } of inTurns(entries)) {
      const path = entry.plan.netns;
      looks.push({ id, path, seen: agent === undefined ? "unknown" : await lookAtNamespace(agent.shim, path) });
    }
    const known = agent === undefined ? [] : this.#sightOf(agent).look(looks, now(), this.#served.directoriesOf(agent));
    const quietMs = this.#quiet(entries, now());
    const nowMs = date().getTime();
    const boot = currentBoot({ now, date });
    const verdicts = entries.map(({ id, entry, begunAt, touchedAt }, index): [string, Verdict] => {
      const { sighted, goneMs }: Known = known[index] ?? { sighted: false, goneMs: 0 };
      const seen = looks[index]?.seen ?? "unknown";
      const verdict = judgeEntry(
        { bootId: entry.plan.bootId, netns: entry.plan.netns, begunAt, touchedAt, closed: entry.closed, ...progressOf(entry) },
        { ...boot, nowMs, seen, goneMs, quietMs: quietMs(id), sighted, graceMs: this.#graceMs },
      );
      return [id, verdict];
    });
    return new Map(verdicts);
  }

  /** Answers for how long an entry's file has been unchanged, in ms, by the entry's id. */
  #quiet(entries: readonly ListedEntry[], nowMs: number): (id: string) => number {
    const before = this.#unchanged;
    const since = ({ id, version }: ListedEntry): number => {
      const known = before.get(id);
      return known?.version === version ? known.since : nowMs;
    };
    const unchanged = new Map(entries.map((each) => [each.id, { version: each.version, since: since(each) }]));
    this.#unchanged = unchanged;
    return (id) => nowMs - (unchanged.get(id)?.since ?? nowMs);
  }

  /** The observations of this agent. Another agent starts without any: it may run in another mount namespace. */
  #sightOf(agent: Agent): Sight {
    if (this.#sight?.of !== agent) this.#sight = { of: agent, sight: new Sight() };
    return this.#sight.sight;
  }
}

/** The facts in the entry's records about its ADD and its DELs. */
function progressOf({ closed, failures, progress }: JournalEntry): Pick<EntryFacts, "neverAttached" | "failedSince"> {
  const begun = progress.filter(({ attempted }) => attempted);
  const failed = begun.some(({ failedStep }) => failedStep !== undefined);
  const neverAttached = !closed && failed && begun.every(({ failedStep, undone }) => undone || failedStep !== undefined);
  const since = Date.parse(failures.since ?? "");
  return Number.isNaN(since) ? { neverAttached } : { neverAttached, failedSince: since };
}
