// Keeps what a feature does in running pods up to date, such as the tables of policies and of Services: after a change of what the feature watches, and for all
// pods at the start, when an agent connects, and at an interval.

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { Result } from "../../../src/fault/result.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { Pod } from "../../../src/npwg/pod.ts";
import { type WorkOutcome, WorkQueue } from "../../cluster/work/work-queue.ts";
import { ChangePace } from "../../cluster/work/change-pace.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import type { ListedEntry } from "../reconcile/entry-list.ts";
import type { ResidentNode } from "../resident-node.ts";
import { FollowedEntries } from "./followed-entries.ts";
import { FollowedRounds } from "./followed-rounds.ts";
import { PacedChanges } from "./paced-changes.ts";
import { PodCalls, type PodWork } from "./pod-calls.ts";
import { PodOutcomes } from "./pod-outcomes.ts";

/** Pods that are worked on at once. */
const workers = 4;
/** Pause in which changes are collected, in ms. */
const collectMs = 50;
/** Interval at which the work for all pods is done anew, in ms. */
const intervalMs = 300_000;
/** Pause after a fault that an agent's connection ends, in ms. */
const retryPauseMs = 5_000;
const maxLine = 4096;

/** The work of a feature for pods. */
export interface FollowedWork extends PodWork {
  /** Calls the function with what has changed, such as a namespace (undefined: all may have changed), until the answer is called. */
  readonly onChange: (noteChange: (what: string | undefined) => void) => () => void;
  /** Whether a pod needs work because one of these has changed. */
  readonly isConcerned: (pod: string, entry: ListedEntry["entry"], changes: ReadonlySet<string | undefined>) => boolean;
  /** Whether a change of the pod's labels needs work. */
  readonly followsLabels: boolean;
  /** Called before the work for all pods begins, and awaited before the journals are read. */
  readonly onRound?: () => void | Promise<void>;
  /** Called before the work for all pods begins, with the ids of all containers that a journal has, those of running ADDs included. */
  readonly onContainers?: (containers: ReadonlySet<string>) => void;
  /** Called when the work for all pods has ended, with the state directories, and with the pods that it failed for or has not reached. */
  readonly onRoundEnd?: (directories: readonly string[], failed: readonly string[]) => void;
}

/** A container of a followed pod. */
export interface FollowedContainer {
  /** `namespace/name`. */
  readonly pod: string;
  readonly containerId: string;
  readonly netns: string;
  /** The reason why the last work for the pod failed. */
  readonly failure?: string | undefined;
  /** The part of the last work that was not done, and that another place holds. */
  readonly shortfall?: string | undefined;
}

/** The pods of one daemon for one feature. */
export class FollowPods {
  readonly #node: ResidentNode;
  readonly #followed: FollowedWork;
  readonly #entries: FollowedEntries;
  readonly #queue: WorkQueue;
  readonly #ended = new AbortController();
  readonly #sources = new Set<string>();
  readonly #labels = new Map<string, string>();
  /** Pods that were worked on before the watch has told their labels: a change between the two is told by nothing else. */
  readonly #unseen = new Set<string>();
  readonly #labelPace: ChangePace;
  /** Pods for which all is done anew at their next turn. */
  readonly #anew = new Set<string>();
  readonly #changes: PacedChanges<string | undefined>;
  readonly #outcomes: PodOutcomes;
  readonly #rounds: FollowedRounds;
  /** Works for pods that succeeded and failed since the daemon's start. */
  readonly totals = { applied: 0, failed: 0 };
  #running: Promise<void> | undefined;
  #resync: NodeJS.Timeout | undefined;
  readonly #unsubscribe: () => void;

  constructor(node: ResidentNode, work: FollowedWork) {
    this.#node = node;
    this.#followed = work;
    const log = (lines: string): void => {
      for (const line of lines.split("\n")) if (line !== "") node.log("warn", `${work.name}: ${inertLine(line, maxLine)}`);
    };
    const directories = node.directories.map((path) => resolve(path));
    const end = (failed: readonly string[]): void => work.onRoundEnd?.(directories, failed);
    this.#rounds = new FollowedRounds(() => node.clock.now(), end);
    this.#outcomes = new PodOutcomes((text) => node.log("warn", `${work.name}: ${inertLine(text, maxLine)}`));
    const isNews = (pod: string, text: string): boolean => this.#outcomes.isNews(pod, text);
    this.#entries = new FollowedEntries(directories, new PodCalls(node, work, isNews, log), (text) =>
      node.log("warn", `${work.name}: ${text}`),
    );
    this.#queue = new WorkQueue((pod) => this.#work(pod), node.clock, workers);
    const pace = new ChangePace(() => node.clock.now());
    this.#labelPace = new ChangePace(() => node.clock.now());
    this.#changes = new PacedChanges(
      (what) => pace.pauseMs(what ?? "", collectMs),
      (changes) => void this.#queueConcerned(changes),
    );
    this.#unsubscribe = work.onChange((what) => this.#noteChange(what));
  }

  /** Whether a configuration has the feature. */
  get isOn(): boolean {
    return this.#sources.size > 0;
  }

  /** Pods that are worked on or wait. */
  get size(): number {
    return this.#queue.size;
  }

  /** Pods for which the work failed. */
  get failures(): number {
    return this.#outcomes.failures;
  }

  /** Pods for which a part of the work was not done that another place holds. */
  get shortfalls(): number {
    return this.#outcomes.shortfalls;
  }

  /** Seconds since the work for all pods last succeeded; undefined: it never has. */
  get ageSeconds(): number | undefined {
    return this.#rounds.ageSeconds;
  }

  /** The containers of this boot. */
  async containers(): Promise<readonly FollowedContainer[]> {
    const found: FollowedContainer[] = [];
    for (const { pod, listed } of await this.#entries.all()) {
      const { containerId, netns } = listed.entry.plan;
      found.push({ pod, containerId, netns, ...this.#outcomes.of(pod) });
    }
    return found;
  }

  /** Begins with the configurations that earlier calls left. */
  async start(): Promise<void> {
    for (const configuration of this.#entries.kept()) await this.noteConfiguration(configuration);
  }

  /** Notes the configuration of a call; the first one with the feature begins the work. */
  async noteConfiguration(configuration: HostConfiguration): Promise<void> {
    const source = configuration.kubeconfig ?? "";
    if (!this.#followed.isOn(configuration) || configuration.retired || source === "" || this.#sources.has(source)) return;
    if (this.#ended.signal.aborted) return;
    this.#sources.add(source);
    this.#running ??= this.#queue.run(this.#ended.signal);
    await this.#node.watch(configuration, () => undefined);
    await this.resync();
  }

  /**
   * Runs `apply` in place of the feature's work for the running containers of a pod whose configuration has the feature. Faults: those of `apply`, and those of the
   * daemon's own calls for a pod.
   */
  look(pod: string, apply: (...of: Parameters<PodWork["apply"]>) => Promise<Result<void>>): Promise<Result<void>> {
    return this.#entries.apply(pod, apply);
  }

  /** Notes an ADD that ended: objects may have changed since the ADD read them. */
  noteAdded(args: string): void {
    const identity = podIdentity(args);
    if (this.isOn && identity.ok && identity.value !== undefined)
      this.#queueChanged(`${identity.value.namespace}/${identity.value.name}`, 0);
  }

  /** Receives a pod that was listed, created, changed or removed (undefined). */
  podChanged(namespace: string, name: string, pod: Pod | undefined): void {
    const key = `${namespace}/${name}`;
    if (!this.#followed.followsLabels) {
      if (pod === undefined) this.#outcomes.forget(key);
      return;
    }
    const before = this.#labels.get(key);
    const isLate = this.#unseen.delete(key);
    if (pod === undefined) {
      this.#labels.delete(key);
      return this.#outcomes.forget(key);
    }
    const labels = JSON.stringify([...(pod.labels ?? [])].toSorted(([one], [other]) => (one < other ? -1 : 1)));
    this.#labels.set(key, labels);
    const mayHaveChanged = before === undefined ? isLate : before !== labels;
    if (this.isOn && mayHaveChanged) this.#queueChanged(key, this.#labelPace.pauseMs(namespace, 0));
  }

  /** Queues all running pods, for which all is done anew. */
  async resync(): Promise<void> {
    if (!this.isOn || this.#ended.signal.aborted) return;
    clearTimeout(this.#resync);
    this.#resync = setTimeout(() => void this.resync(), intervalMs).unref();
    await this.#followed.onRound?.();
    const containers = await this.#entries.containerIds();
    if (containers !== undefined) this.#followed.onContainers?.(containers);
    const pods = await this.#pods();
    this.#rounds.begin(pods);
    for (const pod of pods) {
      this.#anew.add(pod);
      this.#queue.add(pod, 0);
    }
  }

  /** Begins nothing more, and waits for the work that is under way, at most `maxMs`. */
  async stop(maxMs: number): Promise<void> {
    this.#ended.abort();
    this.#unsubscribe();
    clearTimeout(this.#resync);
    this.#changes.stop();
    if (this.#running !== undefined) await Promise.race([this.#running, sleep(maxMs, undefined, { ref: false })]);
  }

  #noteChange(what: string | undefined): void {
    if (this.isOn) this.#changes.add(what);
  }

  /** Queues a pod whose entries may have changed since the last look at the journal. */
  #queueChanged(pod: string, afterMs: number): void {
    this.#entries.noteChange();
    this.#queue.add(pod, afterMs);
  }

  async #queueConcerned(changes: ReadonlySet<string | undefined>): Promise<void> {
    for (const { pod, listed } of await this.#entries.all())
      if (this.#followed.isConcerned(pod, listed.entry, changes)) this.#queue.add(pod, 0);
  }

  /** The pods of this boot with an entry in a journal. */
  async #pods(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const { pod } of await this.#entries.all()) found.add(pod);
    return found;
  }

  async #work(pod: string): Promise<WorkOutcome> {
    const anew = this.#anew.delete(pod);
    if (this.#followed.followsLabels && !this.#labels.has(pod)) this.#unseen.add(pod);
    const outcome = await this.#entries.work(pod, anew);
    const { failure, shortfall } = outcome;
    this.totals[failure === "" ? "applied" : "failed"] += 1;
    this.#outcomes.note(pod, outcome);
    if (failure === "") this.#rounds.succeeded(pod);
    const why = failure === "" ? shortfall : failure;
    if (why === "") return { kind: "done" };
    if (anew) this.#anew.add(pod);
    this.#entries.noteChange();
    return this.#node.agent() === undefined ? { kind: "again", afterMs: retryPauseMs } : { kind: "failed", why };
  }
}
