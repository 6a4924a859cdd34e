// Attaches and detaches networks of running pods. A change of a pod's annotation queues the pod; its work compares the annotation with the journal.
// Nothing is watched until a call's configuration has the key `hotPlug`.

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { type HotPlugged, attachRequested, detachRequested } from "../containers/requested-attachment.ts";
import { repairAttachment } from "../containers/repair-attachment.ts";
import type { InterfaceChanges, IsLost } from "../../container-changes.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import type { ListedEntry } from "../../../host/node/reconcile/entry-list.ts";
import { ContainerCalls } from "./container-calls.ts";
import type { ResidentNode } from "../../../host/node/resident-node.ts";
import { followPod, refuseToFollow } from "./follow-pod.ts";
import { keptConfigurationsWith } from "../../../host/node/reconcile/kept-configurations.ts";
import { isChangeable, RunningEntries } from "./running-entries.ts";

/** The outcome of one comparison: the numbers of attachments and detachments, and whether a failure was left. */
interface Followed {
  readonly attached: number;
  readonly detached: number;
  readonly failed: boolean;
}

/** Pods that are worked on at once. Native plugins take most of the time. A namespace alone gets half of the workers. */
const workers = 6;
/** Minimum time between the begins of two comparisons of one pod, in ms: ten changes in a second lead to a few comparisons. */
const pauseMs = 250;
/** Maximum pods that wait. Beyond it a change is found by the next comparison of all pods. */
const maxWaiting = 1024;
/** Pause before the comparison of all pods after the queue was full, in ms. */
const retryPauseMs = 5_000;
/** Interval of comparisons of all pods, in ms. */
const intervalMs = 300_000;
/** Pause before another look at an ADD that is under way, in ms. */
const pollMs = 1_000;
/** Time after the key's appearance in a call within which the daemon surely keeps that configuration, in ms. */
const keptMs = 60_000;
const maxLine = 4096;

/** The namespace of a pod, which is `namespace/name`. */
const namespaceOf = (pod: string): string => pod.slice(0, pod.indexOf("/"));

/** Faults that no later try mends: only a change of the pod, the definition or the configuration does. */
const lasting: ReadonlySet<FaultKind> = new Set<FaultKind>([
  "HOT_PLUG_REFUSED",
  "SELECTION_INVALID",
  "NETWORK_FORBIDDEN",
  "DEFINITION_FORBIDDEN",
  "INTERFACE_NAME_TAKEN",
  "BOUND_EXCEEDED",
  "CAPABILITY_MISSING",
]);

interface StateDirectory {
  readonly calls: ContainerCalls;
  readonly entries: RunningEntries;
}

/** Hot-plug of one daemon. */
export class HotPlug implements InterfaceChanges {
  readonly #node: ResidentNode;
  readonly #onFollowed: (followed: Followed) => void;
  readonly #states: ReadonlyMap<string, StateDirectory>;
  readonly #queue: WorkQueue;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;
  /** The configurations that switched hot-plug on, by source. */
  readonly #sources = new Map<string, HostConfiguration>();
  /** The annotation of each pod that was reported, by `namespace/name`. */
  readonly #annotations = new Map<string, string | undefined>();
  /** Pods whose annotation changed since their last comparison. */
  readonly #changed = new Set<string>();
  /** When the last comparison of each pod began, in ms of the monotonic clock. */
  readonly #begun = new Map<string, number>();
  /** The last failure of each pod: the same is not reported twice. */
  readonly #failures = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  /** When a configuration switched hot-plug on last, in ms of the monotonic clock. */
  #switchedOnAt = 0;

  constructor(node: ResidentNode, onFollowed: (followed: Followed) => void) {
    this.#node = node;
    this.#onFollowed = onFollowed;
    const log = (lines: string): void => {
      for (const line of lines.split("\n")) if (line !== "") node.log("warn", `hot-plug: ${inertLine(line, maxLine)}`);
    };
    this.#states = new Map(
      node.directories.map((path): [string, StateDirectory] => {
        const directory = resolve(path);
        return [directory, { calls: new ContainerCalls(directory, node, log), entries: new RunningEntries(directory) }];
      }),
    );
    this.#queue = new WorkQueue((pod) => this.#work(pod), node.clock, workers, undefined, undefined, namespaceOf);
  }

  /** Whether a configuration has switched hot-plug on. */
  get isOn(): boolean {
    return this.#sources.size > 0;
  }

  /** The state in one line, for the status. */
  get sentence(): string {
    if (!this.isOn) return "off";
    return `on; ${this.#queue.size} pods are worked on or wait; ${this.#failures.size} pods have a failure`;
  }

  /** Begins with the configurations that earlier calls left. Call it when the daemon serves. */
  async start(): Promise<void> {
    await this.#guarded(async () => {
      for (const directory of this.#states.keys()) {
        for (const configuration of keptConfigurationsWith(directory, ({ hotPlug }) => hotPlug))
          await this.noteConfiguration(configuration);
      }
    });
  }

  /** Notes the configuration of a call; the first one with the key `hotPlug` begins the work. */
  async noteConfiguration(configuration: HostConfiguration): Promise<void> {
    if (!configuration.hotPlug || configuration.retired || this.#ended.signal.aborted) return;
    const source = configuration.manifests ?? configuration.kubeconfig ?? "";
    if (source === "" || this.#sources.has(source)) return;
    this.#sources.set(source, configuration);
    this.#switchedOnAt = this.#node.clock.now();
    this.#running ??= this.#queue.run(this.#ended.signal);
    await this.resync();
  }

  /** Notes an ADD that ended: the pod's annotation may have changed since the ADD read it. `args`: CNI_ARGS. */
  noteAdded(args: string): void {
    const identity = podIdentity(args);
    if (this.isOn && identity.ok && identity.value !== undefined)
      this.reconcilePod(identity.value.namespace, identity.value.name);
  }

  /** Receives a pod that was listed, created, changed or removed (undefined). */
  podChanged(namespace: string, name: string, annotation: string | undefined, exists: boolean): void {
    const pod = `${namespace}/${name}`;
    const isKnown = this.#annotations.has(pod);
    if (!exists) {
      for (const map of [this.#annotations, this.#changed, this.#begun, this.#failures]) map.delete(pod);
      return;
    }
    if (isKnown && this.#annotations.get(pod) === annotation) return;
    // Also before hot-plug is on: the first change after that is a change.
    this.#annotations.set(pod, annotation);
    if (!this.isOn) return;
    if (isKnown) this.#changed.add(pod);
    this.#failures.delete(pod);
    this.#add(pod);
  }

  /** Queues the comparison of a pod's annotation with the journal. */
  reconcilePod(namespace: string, name: string): void {
    if (this.isOn) this.#add(`${namespace}/${name}`);
  }

  /** Queues all attached pods: at the start, when an agent connects, and at an interval. */
  async resync(): Promise<void> {
    if (!this.isOn || this.#ended.signal.aborted) return;
    this.#resyncAfter(intervalMs);
    await this.#guarded(async () => {
      for (const configuration of this.#sources.values()) await this.#node.watch(configuration, () => void this.resync());
      const attached = new Set<string>();
      for (const { entries } of this.#states.values()) {
        const pods = await entries.pods();
        if (!pods.ok) return this.#node.log("warn", `hot-plug: ${pods.fault.msg}`);
        for (const pod of pods.value) attached.add(pod);
      }
      // A directory of manifests does not report that a pod is gone.
      for (const map of [this.#begun, this.#failures]) for (const pod of map.keys()) if (!attached.has(pod)) map.delete(pod);
      for (const pod of attached) this.#add(pod);
    });
  }

  async attach(containerId: string, selection: NetworkSelection): Promise<Result<HotPlugged>> {
    const found = await this.#container(containerId);
    if (!found.ok) return found;
    const { listed, calls } = found.value;
    const attached = await calls.run(listed.entry.plan, "ADD", (call) => attachRequested(call, listed.key, selection));
    // The comparison writes the pod's network status, and has nothing else to do.
    this.noteAdded(listed.entry.plan.cniArgs);
    return attached;
  }

  async detach(containerId: string, ifname: string): Promise<Result<void>> {
    const found = await this.#container(containerId);
    if (!found.ok) return found;
    const { listed, calls } = found.value;
    const detached = await calls.run(listed.entry.plan, "DEL", (call) => detachRequested(call, listed.key, ifname));
    this.noteAdded(listed.entry.plan.cniArgs);
    return detached;
  }

  async repair(containerId: string, ifname: string, isLost: IsLost): Promise<Result<"repaired" | "held">> {
    const found = await this.#container(containerId);
    if (!found.ok) return found;
    const { listed, calls } = found.value;
    return calls.run(listed.entry.plan, "ADD", (call) => repairAttachment(call, listed.key, ifname, isLost));
  }

  /** Begins nothing more, and waits for the work that is under way, at most `maxMs`. */
  async stop(maxMs: number): Promise<void> {
    this.#ended.abort();
    clearTimeout(this.#timer);
    if (this.#running === undefined) return;
    const late = new AbortController();
    const timeout = sleep(maxMs, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([this.#running, timeout]);
    late.abort();
  }

  /** A defect of hot-plug must not end the daemon. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#node.log(
        "warn",
        `hot-plug: ${inertLine(error instanceof Error ? (error.stack ?? error.message) : String(error), maxLine)}`,
      );
    }
  }

  #resyncAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.resync(), ms);
    this.#timer.unref();
  }

  #add(pod: string): void {
    if (this.#queue.size >= maxWaiting) return this.#resyncAfter(retryPauseMs);
    const begun = this.#begun.get(pod);
    this.#queue.add(pod, begun === undefined ? 0 : Math.max(0, begun + pauseMs - this.#node.clock.now()));
  }

  async #container(containerId: string): Promise<Result<{ readonly listed: ListedEntry; readonly calls: ContainerCalls }>> {
    for (const { entries, calls } of this.#states.values()) {
      const listed = await entries.ofContainer(containerId);
      if (!listed.ok) return listed;
      if (listed.value !== undefined) return ok({ listed: listed.value, calls });
    }
    return failed(fault("HOT_PLUG_REFUSED", `container ${containerId}: the journal has no entry for it`));
  }

  async #work(pod: string): Promise<WorkOutcome> {
    this.#begun.set(pod, this.#node.clock.now());
    const changed = this.#changed.delete(pod);
    for (const { entries, calls } of this.#states.values()) {
      const listed = await entries.ofPod(pod);
      if (!listed.ok) return { kind: "failed", why: listed.fault.msg };
      if (listed.value === undefined) continue;
      const { entry } = listed.value;
      if (!entry.closed && entry.plan.assumed !== true) return { kind: "again", afterMs: pollMs };
      // A container whose DEL has begun, or came without an ADD, follows nothing any more.
      if (!isChangeable(entry) && (!entry.closed || entry.failures.count > 0)) return { kind: "done" };
      const isNews = (message: string): boolean => this.#failures.get(pod)?.includes(message) !== true;
      const followed = isChangeable(entry)
        ? await followPod(calls, listed.value, isNews)
        : await refuseToFollow(calls, listed.value, changed, isNews);
      if (followed === "off") {
        if (this.#node.clock.now() - this.#switchedOnAt > keptMs) return { kind: "done" };
        if (changed) this.#changed.add(pod);
        return { kind: "again", afterMs: retryPauseMs };
      }
      for (const change of followed.changes) this.#node.log("info", `hot-plug: pod ${pod}: ${change}`);
      const attached = followed.changes.filter((change) => change.startsWith("+")).length;
      const detached = followed.changes.length - attached;
      this.#onFollowed({ attached, detached, failed: followed.faults.length > 0 });
      return this.#outcome(pod, followed.faults, changed);
    }
    for (const map of [this.#begun, this.#failures]) map.delete(pod);
    return { kind: "done" };
  }

  #outcome(pod: string, faults: readonly Fault[], changed: boolean): WorkOutcome {
    const why = faults.map(({ kind, msg }) => `${msg} [${kind}]`).join("; ");
    if (why === "") this.#failures.delete(pod);
    else if (this.#failures.get(pod) !== why) this.#node.log("warn", `hot-plug: pod ${pod}: ${inertLine(why, maxLine)}`);
    if (why !== "") this.#failures.set(pod, why);
    const transient = faults.find(({ kind }) => !lasting.has(kind));
    if (transient === undefined) return { kind: "done" };
    if (changed) this.#changed.add(pod);
    // An agent that connects queues all pods.
    if (transient.kind === "HOT_PLUG_UNAVAILABLE") return { kind: "again", afterMs: retryPauseMs };
    return { kind: "failed", why };
  }
}
