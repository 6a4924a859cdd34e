// Looks into pods' network namespaces, and pauses after a look that took long: a pod chooses how many links and addresses it has.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { Agent } from "../../../host/node/agent-call.ts";
import type { JournalEntry } from "../../../host/store/journal/entry.ts";
import type { Clock } from "../../../host/system/clock.ts";
import { judgeLink, type LinkFault } from "../rules/judge-link.ts";
import { lookPauseMs } from "../rules/look-pause.ts";
import { lookIntoPod } from "./look-into-pod.ts";
import type { NodeLinks } from "./node-links.ts";
import type { LinkFaults } from "./settle-container.ts";
import { type WatchedContainer, watchedContainer } from "./watched-links.ts";

/** The looks of one daemon. */
export class PodLooks {
  readonly #clock: Clock;
  readonly #node: NodeLinks;
  /** The end of the pause before the next look into a network namespace, in ms of a clock that never goes back. */
  readonly #paused = new Map<string, number>();

  constructor(clock: Clock, node: NodeLinks) {
    this.#clock = clock;
    this.#node = node;
  }

  /** The rest of the pause before the next look, in ms; 0: it is over. */
  pauseMs(netns: string): number {
    const leftMs = (this.#paused.get(netns) ?? 0) - this.#clock.now();
    if (leftMs <= 0) this.#paused.delete(netns);
    return Math.max(0, leftMs);
  }

  /** The namespace is gone. */
  forget(netns: string): void {
    this.#paused.delete(netns);
  }

  /** Whether an attachment's link has a fault that attaching again may mend, by the container's entry as it is now. */
  async mayRepair(agent: Agent, entry: JournalEntry, ifname: string): Promise<Result<boolean>> {
    const container = watchedContainer(entry);
    const faults = container === undefined ? ok("gone" as const) : await this.look(agent, container);
    if (!faults.ok) return faults;
    return ok(faults.value !== "gone" && faults.value.get(ifname)?.mayRepair === true);
  }

  /** The faults of a container's links; "gone": its namespace is gone. */
  async look(agent: Agent, container: WatchedContainer): Promise<Result<LinkFaults | "gone">> {
    const seen = await lookIntoPod(agent.shim, container, (bytes) => {
      const pauseMs = lookPauseMs(bytes);
      if (pauseMs > 0) this.#paused.set(container.netns, this.#clock.now() + pauseMs);
    });
    if (!seen.ok || seen.value === "gone") return seen as Result<"gone">;
    const faults = new Map<string, LinkFault>();
    for (const link of container.links) {
      const end = link.made === undefined ? undefined : this.#node.endOf(link.made, link.nodeNames);
      const fault = judgeLink(link, seen.value, end);
      if (fault !== undefined) faults.set(link.ifname, fault);
    }
    return ok(faults);
  }
}
