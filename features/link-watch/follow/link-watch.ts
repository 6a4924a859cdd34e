// Watches the links of pods' further networks. The kernel's notifications about the node's links say where to look at once: a lost master, a node's end of a
// veth. Each pod is looked into at an interval for what shows in its network namespace alone.

import { setTimeout as sleep } from "node:timers/promises";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import type { Agent } from "../../../host/node/agent-call.ts";
import { ShimGone } from "../../../host/protocol/shim.ts";
import type { IsLost } from "../../container-changes.ts";
import type { ResidentContext } from "../../resident-part.ts";
import { NodeFollower } from "./follow-node.ts";
import { LinkReports } from "./link-reports.ts";
import { type NodeChange, NodeLinks } from "./node-links.ts";
import { PodLooks } from "./pod-looks.ts";
import type { LinkFaults } from "./settle-container.ts";
import { type Watched, WatchedContainers } from "./watched-containers.ts";

/** Time within which each pod is looked into once, in ms: 500 pods are some 8 looks a second. */
const intervalMs = 60_000;
/** Containers that are looked at at once: a confirmation waits for calls of the runtime. */
const workers = 4;
/** Pause before the next look after a repair that found its link again, in ms. */
const heldMs = 1_000;
/** Pause in which ends of calls are collected before the journal is read, in ms. */
const collectMs = 1_000;

type Done = Extract<WorkOutcome, { readonly kind: "done" | "again" }>;
type Failed = Extract<WorkOutcome, { readonly kind: "failed" }>;
type Told = Done | Failed;

/** The watch of one daemon. */
export class LinkWatch {
  readonly #context: ResidentContext;
  readonly #containers: WatchedContainers;
  readonly #reports: LinkReports;
  readonly #queue: WorkQueue;
  readonly #ended = new AbortController();
  readonly #node = new NodeLinks();
  readonly #follower: NodeFollower;
  readonly #looks: PodLooks;
  #running: Promise<unknown> | undefined;
  #round: NodeJS.Timeout | undefined;
  #collect: NodeJS.Timeout | undefined;

  constructor(context: ResidentContext) {
    this.#context = context;
    this.#reports = new LinkReports(context);
    this.#looks = new PodLooks(context.clock, this.#node);
    this.#follower = new NodeFollower(this.#node, context.agent, (change) => this.#nodeChanged(change));
    this.#containers = new WatchedContainers(context.directories, {
      takeLock: context.takeLock,
      look: (agent, container) => this.#looks.look(agent, container),
      log: (lines) => {
        for (const line of lines.split("\n")) if (line !== "") this.#reports.warn(line);
      },
    });
    this.#queue = new WorkQueue((key) => this.#work(key), context.clock, workers);
  }

  /** The state in one line, for the status. */
  get sentence(): string {
    return this.#containers.isOn ? `on; ${this.#containers.links} links watched, ${this.#reports.sentence}` : "off";
  }

  /** Begins with the configurations that earlier calls left. */
  async start(): Promise<void> {
    for (const configuration of this.#containers.kept()) await this.noteConfiguration(configuration);
  }

  /** Notes the configuration of a call; the first one with the key `linkWatch` begins the work. */
  async noteConfiguration(configuration: HostConfiguration): Promise<void> {
    if (!this.#containers.noteConfiguration(configuration) || this.#ended.signal.aborted) return;
    this.#running ??= Promise.all([this.#queue.run(this.#ended.signal), this.#follower.run(this.#ended.signal)]);
    await this.#beginRound();
  }

  /** Notes that a call of the runtime has attached or removed networks. */
  noteChanged(): void {
    this.#collect ??= setTimeout(() => {
      this.#collect = undefined;
      void this.#refresh();
    }, collectMs);
  }

  /** An agent has connected: nothing was seen meanwhile. */
  agentConnected(): void {
    if (this.#containers.isOn) void this.#beginRound();
  }

  /** Begins nothing more, and waits for the work that is under way, at most `maxMs`. */
  async stop(maxMs: number): Promise<void> {
    this.#ended.abort();
    clearTimeout(this.#round);
    clearTimeout(this.#collect);
    if (this.#running !== undefined) await Promise.race([this.#running, sleep(maxMs, undefined, { ref: false })]);
  }

  /** Looks into each pod within the next `intervalMs`. */
  async #beginRound(): Promise<void> {
    clearTimeout(this.#round);
    if (this.#ended.signal.aborted) return;
    this.#round = setTimeout(() => void this.#beginRound(), intervalMs).unref();
    await this.#follower.listIfUntold();
    await this.#refresh();
    const keys = [...this.#containers.all.keys()];
    const step = intervalMs / Math.max(1, keys.length);
    for (const [index, key] of keys.entries()) this.#queue.add(key, Math.floor(index * step));
  }

  /** Reads the journal; containers that are new, or whose entry has changed, are looked at at once. */
  async #refresh(): Promise<void> {
    const refreshed = await this.#containers.refresh();
    if (!refreshed.ok) return this.#reports.warn(refreshed.fault.msg);
    for (const { key, netns } of refreshed.value.gone) {
      this.#reports.forget(key);
      this.#looks.forget(netns);
    }
    for (const key of refreshed.value.changed) {
      this.#reports.noteChanged(key);
      this.#queue.add(key);
    }
    this.#reports.countWatched(this.#containers.links);
    this.#reports.countLost();
  }

  #nodeChanged({ indexes, made }: NodeChange): void {
    const { lost } = this.#reports;
    if (made) {
      lost.hurry();
      for (const key of lost.containers) this.#queue.add(key);
    }
    for (const [key, { container }] of this.#containers.all) {
      const isAffected = container.links.some(({ made: link, nodeNames }) => {
        if (indexes === "all" || link?.peer === undefined) return indexes === "all";
        const end = this.#node.endOf(link, nodeNames)?.link;
        return indexes.has(link.peer) || (end?.master !== undefined && indexes.has(end.master));
      });
      if (isAffected) this.#queue.add(key);
    }
  }

  async #work(key: string): Promise<WorkOutcome> {
    const watched = this.#containers.all.get(key);
    const agent = this.#context.agent();
    // An agent that connects begins a round.
    if (watched === undefined || agent === undefined) return { kind: "done" };
    const leftMs = this.#looks.pauseMs(watched.container.netns);
    if (leftMs > 0) return { kind: "again", afterMs: leftMs };
    try {
      const faults = await this.#looks.look(agent, watched.container);
      if (!faults.ok) return this.#failed(key, faults.fault.msg);
      if (faults.value === "gone") return { kind: "done" };
      // An earlier daemon may have told other faults.
      this.#reports.tellFirst(key, watched, faults.value);
      const told = await this.#tell(key, watched, agent, faults.value);
      // A repair must not wait for an API server that takes no report.
      const repaired = await this.#repair(key, watched, agent, faults.value);
      if (told.kind === "done") return repaired;
      if (told.kind === "failed" || repaired.kind === "done") return told;
      return { kind: "again", afterMs: Math.min(told.afterMs, repaired.afterMs) };
    } catch (error) {
      if (!(error instanceof ShimGone)) throw error;
      return { kind: "done" };
    }
  }

  /** Tells the pod its faults, if it does not know them and the pause since the last ones is over. */
  async #tell(key: string, watched: Watched, agent: Agent, faults: LinkFaults): Promise<Told> {
    if (this.#reports.isTold(key, faults)) return { kind: "done" };
    const pauseMs = this.#reports.lost.tellingPauseMs(key, this.#context.clock.now());
    if (pauseMs > 0) return { kind: "again", afterMs: pauseMs };
    const why = await this.#reports.tellPod(key, watched, agent);
    return why === undefined ? { kind: "done" } : this.#failed(key, why);
  }

  /** Attaches lost links again whose pause is over. */
  async #repair(key: string, watched: Watched, agent: Agent, faults: LinkFaults): Promise<Done> {
    const { now } = this.#context.clock;
    const { lost } = this.#reports;
    let againMs = Infinity;
    for (const [ifname, { mayRepair }] of this.#containers.wantsRepair(watched) ? faults : []) {
      if (!mayRepair) continue;
      const pauseMs = lost.pauseMs(key, ifname, now());
      if (pauseMs > 0) {
        againMs = Math.min(againMs, pauseMs);
        continue;
      }
      const isLost: IsLost = (entry) => this.#looks.mayRepair(agent, entry, ifname);
      const repaired = await this.#context.changes().repair(watched.listed.key.containerId, ifname, isLost);
      // The link came back meanwhile, or the attachment is another one: the next look says so.
      if (repaired.ok && repaired.value === "held") {
        againMs = Math.min(againMs, heldMs);
        await this.#refresh();
        continue;
      }
      lost.noteTry(key, ifname, now(), repaired.ok);
      this.#reports.countRepair(repaired.ok);
      againMs = Math.min(againMs, lost.pauseMs(key, ifname, now()));
      // The entry has another link now, and a changed entry is looked at.
      if (repaired.ok) await this.#refresh();
      else {
        const message = `${ifname} could not be attached again: ${repaired.fault.msg}`;
        await this.#reports.tellFailedRepair(key, watched, agent, message);
      }
    }
    return againMs === Infinity ? { kind: "done" } : { kind: "again", afterMs: againMs };
  }

  #failed(key: string, why: string): Failed {
    this.#reports.logFailure(key, this.#containers.all.get(key)?.container.pod ?? key, why);
    return { kind: "failed", why };
  }
}
