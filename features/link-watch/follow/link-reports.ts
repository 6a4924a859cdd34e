// Reports of lost links: to the pod by Events and conditions, to other parts of the daemon, to log and metrics. A report is not repeated.

import { inertLine } from "../../../src/text/inert-text.ts";
import type { Agent } from "../../../host/node/agent-call.ts";
import type { ResidentContext } from "../../resident-part.ts";
import { linkWatchMetrics } from "../metrics.ts";
import { conditionsOf, eventsOf, LostLinks } from "./lost-links.ts";
import { type LinkFaults, settleContainer } from "./settle-container.ts";
import type { Watched } from "./watched-containers.ts";

const maxLine = 1024;
/** Maximum lost links that the status names. */
const maxNamed = 5;

/** The reports of one daemon. Containers are named by their keys. */
export class LinkReports {
  readonly lost = new LostLinks();
  readonly #context: ResidentContext;
  readonly #metrics;
  /** The last failure of each container: the same is not logged twice. */
  readonly #failures = new Map<string, string>();
  /** The containers whose links other parts know. */
  readonly #told = new Set<string>();
  /** The containers whose pod has to be told, although their faults are known: its network status may have other conditions. */
  readonly #untold = new Set<string>();
  /** ms of the time of day. */
  readonly #startedAt: number;

  constructor(context: ResidentContext) {
    this.#context = context;
    this.#startedAt = context.clock.date().getTime();
    this.#metrics = context.metrics.with(linkWatchMetrics);
  }

  /** The lost links in one line, for the status. */
  get sentence(): string {
    const lost = this.lost.all;
    const named = lost.slice(0, maxNamed).map(({ pod, fault, since }) => `${pod}: ${fault.why}, since ${since}`);
    const more = lost.length > maxNamed ? [`and ${lost.length - maxNamed} more`] : [];
    return `${lost.length} lost${lost.length === 0 ? "" : `: ${[...named, ...more].join("; ")}`}`;
  }

  /**
   * Tells the other parts of the daemon what the first look into a container found. The pod of a container that an earlier daemon has watched is told, too: its
   * network status may have conditions of that time.
   */
  tellFirst(key: string, watched: Watched, faults: LinkFaults): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    if (watched.listed.begunAt < this.#startedAt) this.#untold.add(key);
    this.#tellParts(watched, faults);
  }

  /** The journal entry has changed, and maybe the network status, whose writers know no conditions. */
  noteChanged(key: string): void {
    if (this.lost.of(key).length > 0) this.#untold.add(key);
  }

  /** Whether the pod knows these faults. */
  isTold(key: string, faults: LinkFaults): boolean {
    return this.lost.isKnown(key, faults) && !this.#untold.has(key);
  }

  /** Confirms the faults, and tells the pod what has changed. Answers the reason why it could not. Throws ShimGone. */
  async tellPod(key: string, watched: Watched, agent: Agent): Promise<string | undefined> {
    const { state, listed, container } = watched;
    const now = this.#context.clock.date().toISOString();
    const settled = await settleContainer(state, agent, listed, (faults) => {
      const changes = this.lost.changes(key, faults);
      for (const { after, ifname } of changes) {
        const text = after?.why ?? `${ifname} is as its attachment left it again`;
        this.#context.log(after === undefined ? "info" : "warn", inertLine(`link-watch: ${container.pod}: ${text}`, maxLine));
        if (after !== undefined) this.#metrics.add("plexus_link_losses_total", { fault: after.kind });
      }
      this.lost.keep(key, container.pod, faults, now);
      this.#tellParts(watched, faults);
      this.countLost();
      return { events: eventsOf(changes), conditions: conditionsOf(faults, now) };
    });
    this.lost.noteTold(key, this.#context.clock.now());
    if (!settled.ok) {
      // The faults are known by now, and the pod does not know them.
      this.#untold.add(key);
      return settled.fault.msg;
    }
    this.#untold.delete(key);
    this.#failures.delete(key);
    return undefined;
  }

  /** Tells log and pod that an interface could not be attached again. Throws ShimGone. */
  async tellFailedRepair(key: string, watched: Watched, agent: Agent, message: string): Promise<void> {
    const { state, listed, container } = watched;
    if (!this.#warnOnce(key, container.pod, message)) return;
    const now = this.#context.clock.date().toISOString();
    await settleContainer(state, agent, listed, (faults) => ({
      events: [{ reason: "InterfaceRepairFailed", message }],
      conditions: conditionsOf(faults, now),
    }));
  }

  /** Logs why a container could not be looked into. */
  logFailure(key: string, pod: string, why: string): void {
    this.#warnOnce(key, pod, why);
  }

  countRepair(isRepaired: boolean): void {
    this.#metrics.add("plexus_link_repairs_total", { outcome: isRepaired ? "repaired" : "failed" });
  }

  countLost(): void {
    for (const { fault, count } of this.lost.counts()) this.#metrics.set("plexus_links_lost", { fault }, count);
  }

  countWatched(links: number): void {
    this.#metrics.set("plexus_links_watched", {}, links);
  }

  /** Forgets a container that is gone. */
  forget(key: string): void {
    this.lost.forget(key);
    for (const keys of [this.#told, this.#untold, this.#failures]) keys.delete(key);
  }

  warn(text: string): void {
    this.#context.log("warn", `link-watch: ${inertLine(text, maxLine)}`);
  }

  /** False: this failure is the container's last one, and was logged. */
  #warnOnce(key: string, pod: string, why: string): boolean {
    if (this.#failures.get(key) === why) return false;
    this.#failures.set(key, why);
    this.warn(`${pod}: ${why}`);
    return true;
  }

  #tellParts({ state, listed }: Watched, faults: LinkFaults): void {
    this.#context.linksSeen({ stateDirectory: state.stateDirectory, key: listed.key, faults });
  }
}
