// Watches the links of pods' further networks. The kernel's notifications about the node's links say where to look at once: a lost master, a node's end of a
// veth. Each pod is looked into at an interval for what shows in its network namespace alone.

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { Result } from "../../../src/fault/result.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { bootId } from "../../../host/system/boot-id.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import type { RoundAgent } from "../../../host/node/reconcile/clean.ts";
import { EntryList, type ListedEntry } from "../../../host/node/reconcile/entry-list.ts";
import { KeptConfigurations, keptConfigurationsWith } from "../../../host/node/reconcile/kept-configurations.ts";
import { ShimGone } from "../../../host/protocol/shim.ts";
import { fileNameOf } from "../../../host/store/journal/entry-file.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import type { ResidentInit } from "../../resident-part.ts";
import { linkWatchMetrics } from "../metrics.ts";
import { NodeFollower } from "./follow-node.ts";
import { conditionsOf, eventsOf, LostLinks } from "./lost-links.ts";
import { type NodeChange, NodeLinks } from "./node-links.ts";
import { PodLooks } from "./pod-looks.ts";
import { type LinkFaults, settleContainer, type SettleInit } from "./settle-container.ts";
import { type WatchedContainer, watchedContainer } from "./watched-links.ts";

/** Time within which each pod is looked into once, in ms: 500 pods are some 8 looks a second. */
const roundMs = 60_000;
/** Containers that are looked at at once: a confirmation waits for calls of the runtime. */
const workers = 4;
/** Pause in which ends of calls are collected before the journal is read, in ms. */
const collectMs = 1_000;
const maxLine = 1024;
/** Maximum lost links that the status names. */
const maxNamed = 5;

interface State extends SettleInit {
  readonly entries: EntryList;
}

interface Watched {
  readonly state: State;
  readonly listed: ListedEntry;
  readonly container: WatchedContainer;
}

/** The watch of one daemon. */
export class LinkWatch {
  readonly #init: ResidentInit;
  readonly #states: readonly State[];
  readonly #metrics;
  readonly #queue: WorkQueue;
  readonly #ended = new AbortController();
  readonly #node = new NodeLinks();
  readonly #follower: NodeFollower;
  readonly #looks: PodLooks;
  readonly #lost = new LostLinks();
  /** Whether lost links are attached again, by state directory and configuration; those without the key are not in it. */
  readonly #settings = new Map<string, { readonly repair: boolean }>();
  /** The last failure of each container: the same is not logged twice. */
  readonly #failures = new Map<string, string>();
  /** The containers whose links other parts know. */
  readonly #told = new Set<string>();
  #watched: ReadonlyMap<string, Watched> = new Map();
  #running: Promise<unknown> | undefined;
  #round: NodeJS.Timeout | undefined;
  #collect: NodeJS.Timeout | undefined;

  constructor(init: ResidentInit) {
    this.#init = init;
    this.#metrics = init.metrics.with(linkWatchMetrics);
    const { takeLock } = init;
    this.#looks = new PodLooks(init.clock, this.#node);
    this.#follower = new NodeFollower(this.#node, init.agent, (change) => this.#nodeChanged(change));
    const look = (agent: RoundAgent, container: WatchedContainer): Promise<Result<LinkFaults | "gone">> =>
      this.#looks.look(agent, container);
    const log = (lines: string): void => {
      for (const line of lines.split("\n")) if (line !== "") this.#warn(line);
    };
    this.#states = init.directories.map((path) => {
      const stateDirectory = resolve(path);
      const entries = new EntryList(new Journal(stateDirectory), stateDirectory);
      return { stateDirectory, configurations: new KeptConfigurations(stateDirectory), entries, takeLock, look, log };
    });
    this.#queue = new WorkQueue({ clock: init.clock, workers, work: (container) => this.#work(container) });
  }

  /** The state in one line, for the status. */
  get sentence(): string {
    if (this.#settings.size === 0) return "off";
    const links = [...this.#watched.values()].reduce((sum, { container }) => sum + container.links.length, 0);
    const lost = this.#lost.all;
    const named = lost.slice(0, maxNamed).map(({ pod, fault, since }) => `${pod}: ${fault.why}, since ${since}`);
    const more = lost.length > maxNamed ? [`and ${lost.length - maxNamed} more`] : [];
    return `on; ${links} links watched, ${lost.length} lost${lost.length === 0 ? "" : `: ${[...named, ...more].join("; ")}`}`;
  }

  /** Begins with the configurations that earlier calls left. */
  async start(): Promise<void> {
    for (const { stateDirectory } of this.#states) {
      const kept = keptConfigurationsWith(stateDirectory, (each) => each.linkWatch !== undefined);
      for (const configuration of kept) await this.noteConfiguration(configuration);
    }
  }

  /** Notes the configuration of a call; the first one with the key `linkWatch` begins the work. */
  async noteConfiguration({ cniDir, name, linkWatch, retired }: HostConfiguration): Promise<void> {
    const source = sourceOf(cniDir, name);
    const isNew = !this.#settings.has(source);
    if (linkWatch === undefined || retired) return void this.#settings.delete(source);
    this.#settings.set(source, linkWatch);
    if (!isNew || this.#ended.signal.aborted) return;
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
    if (this.#settings.size > 0) void this.#beginRound();
  }

  /** Begins nothing more, and waits for the work that is under way, at most `maxMs`. */
  async stop(maxMs: number): Promise<void> {
    this.#ended.abort();
    clearTimeout(this.#round);
    clearTimeout(this.#collect);
    if (this.#running !== undefined) await Promise.race([this.#running, sleep(maxMs, undefined, { ref: false })]);
  }

  /** Looks into each pod within the next `roundMs`. */
  async #beginRound(): Promise<void> {
    clearTimeout(this.#round);
    if (this.#ended.signal.aborted) return;
    this.#round = setTimeout(() => void this.#beginRound(), roundMs).unref();
    await this.#follower.listForEarlier();
    await this.#refresh();
    const step = roundMs / Math.max(1, this.#watched.size);
    for (const [index, container] of [...this.#watched.keys()].entries()) this.#queue.add(container, Math.floor(index * step));
  }

  /** Reads the journal; containers that are new, or whose entry has changed, are looked at at once. */
  async #refresh(): Promise<void> {
    const boot = bootId();
    const watched = new Map<string, Watched>();
    for (const state of this.#states) {
      const entries = await state.entries.refresh();
      if (!entries.ok) return this.#warn(entries.fault.msg);
      for (const listed of entries.value.entries) {
        const { bootId: ofEntry, network } = listed.entry.plan;
        const isWatched = ofEntry === boot && this.#settings.has(sourceOf(state.stateDirectory, network));
        const container = isWatched ? watchedContainer(listed.entry) : undefined;
        if (container !== undefined)
          watched.set(`${state.stateDirectory}/${fileNameOf(listed.key)}`, { state, listed, container });
      }
    }
    const before = this.#watched;
    this.#watched = watched;
    for (const [container, { container: links }] of before)
      if (!watched.has(container)) {
        this.#forget(container);
        this.#looks.forget(links.netns);
      }
    for (const [container, { listed }] of watched)
      if (before.get(container)?.listed.version !== listed.version) this.#queue.add(container);
    this.#count();
  }

  #nodeChanged({ indexes, made }: NodeChange): void {
    if (made) {
      this.#lost.hurry();
      for (const container of this.#lost.containers) this.#queue.add(container);
    }
    for (const [key, { container }] of this.#watched) {
      const isAffected = container.links.some(({ made: link }) => {
        if (indexes === "all" || link?.peer === undefined) return indexes === "all";
        const end = this.#node.endOf(link, [])?.link;
        return indexes.has(link.peer) || (end?.master !== undefined && indexes.has(end.master));
      });
      if (isAffected) this.#queue.add(key);
    }
  }

  async #work(key: string): Promise<WorkOutcome> {
    const watched = this.#watched.get(key);
    const agent = this.#init.agent();
    // An agent that connects begins a round.
    if (watched === undefined || agent === undefined) return { kind: "done" };
    const leftMs = this.#looks.pauseMs(watched.container.netns);
    if (leftMs > 0) return { kind: "again", afterMs: leftMs };
    try {
      const faults = await this.#looks.look(agent, watched.container);
      if (!faults.ok) return this.#failed(key, faults.fault.msg);
      if (faults.value === "gone") return { kind: "done" };
      // The first look of this daemon: an earlier one may have told other faults.
      if (!this.#told.has(key)) this.#tell(key, watched, faults.value);
      if (!this.#lost.isKnown(key, faults.value)) {
        const pauseMs = this.#lost.tellingPauseMs(key, this.#init.clock.now());
        if (pauseMs > 0) return { kind: "again", afterMs: pauseMs };
        const why = await this.#settle(key, watched, agent);
        if (why !== undefined) return this.#failed(key, why);
      }
      return await this.#repair(key, watched, agent);
    } catch (error) {
      if (!(error instanceof ShimGone)) throw error;
      return { kind: "done" };
    }
  }

  /** Attaches lost links again whose pause is over. */
  async #repair(key: string, watched: Watched, agent: RoundAgent): Promise<WorkOutcome> {
    const { now } = this.#init.clock;
    let againMs = Infinity;
    for (const { ifname, fault } of this.#settingOf(watched)?.repair === true ? this.#lost.of(key) : []) {
      if (!fault.mayRepair) continue;
      const pauseMs = this.#lost.pauseMs(key, ifname, now());
      if (pauseMs > 0) {
        againMs = Math.min(againMs, pauseMs);
        continue;
      }
      const repaired = await this.#init.changes().repair(watched.listed.key.containerId, ifname);
      this.#lost.noteTry(key, ifname, now(), repaired.ok);
      this.#metrics.add("plexus_link_repairs_total", { outcome: repaired.ok ? "repaired" : "failed" });
      againMs = Math.min(againMs, this.#lost.pauseMs(key, ifname, now()));
      // The entry has another link now, and a changed entry is looked at.
      if (repaired.ok) await this.#refresh();
      else await this.#tellFailure(key, watched, agent, `${ifname} could not be attached again: ${repaired.fault.msg}`);
    }
    return againMs === Infinity ? { kind: "done" } : { kind: "again", afterMs: againMs };
  }

  /** The same failure is told once. */
  async #tellFailure(key: string, { state, listed, container }: Watched, agent: RoundAgent, message: string): Promise<void> {
    if (this.#failures.get(key) === message) return;
    this.#failures.set(key, message);
    this.#warn(`${container.pod}: ${message}`);
    const now = this.#init.clock.date().toISOString();
    await settleContainer(state, agent, listed, (faults) => ({
      events: [{ reason: "InterfaceRepairFailed", message }],
      conditions: conditionsOf(faults, now),
    }));
  }

  /** Confirms the faults and tells the pod. Answers the reason why it could not. */
  async #settle(key: string, { state, listed, container }: Watched, agent: RoundAgent): Promise<string | undefined> {
    const now = this.#init.clock.date().toISOString();
    const settled = await settleContainer(state, agent, listed, (faults) => {
      const changes = this.#lost.changes(key, faults);
      for (const { after, ifname } of changes) {
        const text = after?.why ?? `${ifname} is as its attachment left it again`;
        this.#init.log(after === undefined ? "info" : "warn", inertLine(`link-watch: ${container.pod}: ${text}`, maxLine));
        if (after !== undefined) this.#metrics.add("plexus_link_losses_total", { fault: after.kind });
      }
      this.#lost.keep(key, container.pod, faults, now);
      this.#init.linksSeen({ stateDirectory: state.stateDirectory, key: listed.key, faults });
      this.#count();
      return { events: eventsOf(changes), conditions: conditionsOf(faults, now) };
    });
    this.#lost.noteTold(key, this.#init.clock.now());
    if (settled.ok) this.#failures.delete(key);
    return settled.ok ? undefined : settled.fault.msg;
  }

  #tell(key: string, { state, listed }: Watched, faults: LinkFaults): void {
    this.#told.add(key);
    this.#init.linksSeen({ stateDirectory: state.stateDirectory, key: listed.key, faults });
  }

  #settingOf({ state, listed }: Watched): { readonly repair: boolean } | undefined {
    return this.#settings.get(sourceOf(state.stateDirectory, listed.entry.plan.network));
  }

  #failed(key: string, why: string): WorkOutcome {
    if (this.#failures.get(key) !== why) this.#warn(`${this.#watched.get(key)?.container.pod ?? key}: ${why}`);
    this.#failures.set(key, why);
    return { kind: "failed", why };
  }

  #forget(container: string): void {
    this.#lost.forget(container);
    this.#told.delete(container);
    this.#failures.delete(container);
  }

  #count(): void {
    const links = [...this.#watched.values()].reduce((sum, { container }) => sum + container.links.length, 0);
    this.#metrics.set("plexus_links_watched", {}, links);
    for (const { fault, count } of this.#lost.counts()) this.#metrics.set("plexus_links_lost", { fault }, count);
  }

  #warn(text: string): void {
    this.#init.log("warn", `link-watch: ${inertLine(text, maxLine)}`);
  }
}

/** A configuration by its state directory and its name. */
function sourceOf(stateDirectory: string, name: string): string {
  return `${resolve(stateDirectory)} ${name}`;
}
