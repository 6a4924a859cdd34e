// Judges entries by what resident hands see of their namespaces, from one round to the next.

import { uptime } from "node:os";
import { judgeEntry, type Verdict } from "../../src/reconcile/judge-entry.ts";
import { type Known, type Look, Sight } from "../../src/reconcile/sight.ts";
import { bootId } from "../brain/boot-id.ts";
import { lookAtNamespace } from "../brain/namespace-gone.ts";
import type { RoundHands } from "./clean.ts";
import type { ListedEntry } from "./entry-list.ts";
import { inTurns } from "./in-turns.ts";

/** The time: of a clock that never goes back, in ms, and of the day. */
export interface Clocks {
  readonly now: () => number;
  readonly date: () => Date;
}

export class EntryJudge {
  readonly #graceMs: number;
  #sight: { readonly of: RoundHands; readonly sight: Sight } | undefined;
  /** Since when each entry's file is as it is. */
  #asItIs: ReadonlyMap<string, { readonly version: string; readonly sinceMs: number }> = new Map();

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** A verdict for each entry's id. To be asked about all of them once a round. Throws HandsGone. */
  async judge(
    entries: readonly ListedEntry[],
    resident: RoundHands | undefined,
    { now, date }: Clocks,
  ): Promise<ReadonlyMap<string, Verdict>> {
    const looks: Look[] = [];
    for await (const { id, entry } of inTurns(entries)) {
      const path = entry.plan.netns;
      looks.push({ id, path, seen: resident === undefined ? "unknown" : await lookAtNamespace(resident.hands, path) });
    }
    const known = resident === undefined ? [] : this.#sightOf(resident).look(looks, now());
    const quietMs = this.#quiet(entries, now());
    const boot = bootId();
    const nowMs = date().getTime();
    // Either may be shown shorter than it is, to a container or after a sleep; the longer one makes the boot the earlier.
    const bootedMs = nowMs - Math.max(uptime() * 1000, Number(process.hrtime.bigint() / 1_000_000n));
    const verdicts = entries.map(({ id, entry, begunMs, touchedMs }, index): [string, Verdict] => {
      const { sighted, goneMs }: Known = known[index] ?? { sighted: false, goneMs: 0 };
      const seen = looks[index]?.seen ?? "unknown";
      const verdict = judgeEntry(
        { bootId: entry.plan.bootId, netns: entry.plan.netns, begunMs, touchedMs, closed: entry.closed },
        { bootId: boot, bootedMs, nowMs, seen, goneMs, quietMs: quietMs(id), sighted, graceMs: this.#graceMs },
      );
      return [id, verdict];
    });
    return new Map(verdicts);
  }

  /** For how long an entry's file was found as it is, by its id. */
  #quiet(entries: readonly ListedEntry[], nowMs: number): (id: string) => number {
    const before = this.#asItIs;
    const since = ({ id, version }: ListedEntry): number => {
      const known = before.get(id);
      return known?.version === version ? known.sinceMs : nowMs;
    };
    const asItIs = new Map(entries.map((each) => [each.id, { version: each.version, sinceMs: since(each) }]));
    this.#asItIs = asItIs;
    return (id) => nowMs - (asItIs.get(id)?.sinceMs ?? nowMs);
  }

  /** What other hands saw counts for nothing. */
  #sightOf(resident: RoundHands): Sight {
    if (this.#sight?.of !== resident) this.#sight = { of: resident, sight: new Sight() };
    return this.#sight.sight;
  }
}
