// Keeps the tables of running pods up to date: after a change of a policy, of its peers, or of a pod's labels, and all of them at the start, when an agent
// connects, and at an interval.

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { Pod } from "../../../src/npwg/pod.ts";
import { type WorkOutcome, WorkQueue } from "../../../host/cluster/work/work-queue.ts";
import { bootId } from "../../../host/system/boot-id.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { EntryList, type ListedEntry } from "../../../host/node/reconcile/entry-list.ts";
import { keptConfigurationsWith, KeptConfigurations } from "../../../host/node/reconcile/kept-configurations.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import type { ResidentInit } from "../../resident-part.ts";
import { beginPolicyRound, onPolicyChange } from "../policy-changes.ts";
import { type PodCallsInit, refreshContainer } from "./pod-calls.ts";

/** Pods that are worked on at once. */
const workers = 4;
/** Pause in which changes of a namespace are collected, in ms. */
const collectMs = 50;
/** Interval at which all tables are written anew, in ms. */
const resyncMs = 300_000;
/** Pause after a fault that an agent's connection ends, in ms. */
const unavailableMs = 5_000;
const maxLine = 4096;

interface StateDirectory extends PodCallsInit {
  readonly entries: EntryList;
}

/** The tables of one daemon. */
export class FollowPolicies {
  readonly #init: ResidentInit;
  readonly #states: readonly StateDirectory[];
  readonly #queue: WorkQueue;
  readonly #ended = new AbortController();
  readonly #sources = new Set<string>();
  readonly #labels = new Map<string, string>();
  /** Pods whose table is written anew at their next turn. */
  readonly #anew = new Set<string>();
  /** Namespaces with changes; undefined: all of them. */
  readonly #due = new Set<string | undefined>();
  /** The last failure of each pod: the same is not logged twice. */
  readonly #failures = new Map<string, string>();
  #running: Promise<void> | undefined;
  #resync: NodeJS.Timeout | undefined;
  #collect: NodeJS.Timeout | undefined;
  readonly #unsubscribe: () => void;

  constructor(init: ResidentInit) {
    this.#init = init;
    const log = (lines: string): void => {
      for (const line of lines.split("\n")) if (line !== "") init.log("warn", `policies: ${inertLine(line, maxLine)}`);
    };
    this.#states = init.directories.map((path) => {
      const stateDirectory = resolve(path);
      const { agent, takeLock } = init;
      const configurations = new KeptConfigurations(stateDirectory);
      const entries = new EntryList(new Journal(stateDirectory), stateDirectory);
      return { stateDirectory, configurations, agent, takeLock, log, entries };
    });
    this.#queue = new WorkQueue({ workers, work: (pod) => this.#work(pod) });
    this.#unsubscribe = onPolicyChange((namespace) => this.#namespaceChanged(namespace));
  }

  /** Whether a configuration has the key `policies`. */
  get isOn(): boolean {
    return this.#sources.size > 0;
  }

  /** The state in one line, for the status. */
  get sentence(): string {
    if (!this.isOn) return "off";
    return `on; ${this.#queue.size} pods are worked on or wait; the policies of ${this.#failures.size} pods could not be applied`;
  }

  /** Begins with the configurations that earlier calls left. */
  async start(): Promise<void> {
    for (const { stateDirectory } of this.#states) {
      const kept = keptConfigurationsWith(stateDirectory, ({ policies }) => policies !== undefined);
      for (const configuration of kept) await this.noteConfiguration(configuration);
    }
  }

  /** Notes the configuration of a call; the first one with the key `policies` begins the work. */
  async noteConfiguration(configuration: HostConfiguration): Promise<void> {
    const source = configuration.kubeconfig ?? "";
    if (configuration.policies === undefined || configuration.retired || source === "" || this.#sources.has(source)) return;
    if (this.#ended.signal.aborted) return;
    this.#sources.add(source);
    this.#running ??= this.#queue.run(this.#ended.signal);
    await this.#init.watch(configuration, () => undefined);
    await this.resync();
  }

  /** Notes an ADD that ended: policies and labels may have changed since the ADD read them. */
  noteAdded(args: string): void {
    const identity = podIdentity(args);
    if (this.isOn && identity.ok && identity.value !== undefined)
      this.#queue.add(`${identity.value.namespace}/${identity.value.name}`, 0);
  }

  /** Receives a pod that was listed, created, changed or removed (undefined). */
  podChanged(namespace: string, name: string, pod: Pod | undefined): void {
    const key = `${namespace}/${name}`;
    const before = this.#labels.get(key);
    if (pod === undefined) {
      for (const map of [this.#labels, this.#failures]) map.delete(key);
      return;
    }
    const labels = JSON.stringify([...(pod.labels ?? [])].toSorted(([one], [other]) => (one < other ? -1 : 1)));
    this.#labels.set(key, labels);
    if (this.isOn && before !== undefined && before !== labels) this.#queue.add(key, 0);
  }

  /** Queues all running pods, whose tables are written anew. */
  async resync(): Promise<void> {
    if (!this.isOn || this.#ended.signal.aborted) return;
    clearTimeout(this.#resync);
    this.#resync = setTimeout(() => void this.resync(), resyncMs).unref();
    beginPolicyRound();
    for (const pod of await this.#pods()) {
      this.#anew.add(pod);
      this.#queue.add(pod, 0);
    }
  }

  /** Begins nothing more, and waits for the work that is under way, at most `maxMs`. */
  async stop(maxMs: number): Promise<void> {
    this.#ended.abort();
    this.#unsubscribe();
    clearTimeout(this.#resync);
    clearTimeout(this.#collect);
    if (this.#running !== undefined) await Promise.race([this.#running, sleep(maxMs, undefined, { ref: false })]);
  }

  #namespaceChanged(namespace: string | undefined): void {
    if (!this.isOn) return;
    this.#due.add(namespace);
    this.#collect ??= setTimeout(() => {
      this.#collect = undefined;
      const due = new Set(this.#due);
      this.#due.clear();
      void this.#queueNamespaces(due);
    }, collectMs);
  }

  async #queueNamespaces(namespaces: ReadonlySet<string | undefined>): Promise<void> {
    const isDue = (pod: string): boolean => namespaces.has(undefined) || namespaces.has(pod.slice(0, pod.indexOf("/")));
    for (const pod of await this.#pods()) if (isDue(pod)) this.#queue.add(pod, 0);
  }

  /** The pods of this boot with an entry in a journal. */
  async #pods(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const state of this.#states) for (const entry of await this.#entries(state)) found.add(podOf(entry));
    found.delete("");
    return found;
  }

  async #entries({ entries }: StateDirectory): Promise<readonly ListedEntry[]> {
    const listed = await entries.refresh();
    if (!listed.ok) {
      this.#init.log("warn", `policies: ${listed.fault.msg}`);
      return [];
    }
    const boot = bootId();
    return listed.value.entries.filter(({ entry }) => entry.plan.bootId === boot && entry.closed);
  }

  async #work(pod: string): Promise<WorkOutcome> {
    const anew = this.#anew.delete(pod);
    const faults: string[] = [];
    for (const state of this.#states) {
      for (const entry of await this.#entries(state)) {
        if (podOf(entry) !== pod) continue;
        const refreshed = await refreshContainer(state, entry, anew);
        if (!refreshed.ok) faults.push(refreshed.fault.msg);
      }
    }
    const why = faults.join("; ");
    if (why === "") {
      this.#failures.delete(pod);
      return { kind: "done" };
    }
    if (anew) this.#anew.add(pod);
    if (this.#failures.get(pod) !== why) this.#init.log("warn", `policies: pod ${pod}: ${inertLine(why, maxLine)}`);
    this.#failures.set(pod, why);
    return this.#init.agent() === undefined ? { kind: "again", afterMs: unavailableMs } : { kind: "failed", why };
  }
}

/** The pod of an entry as `namespace/name`; empty if the runtime named none. */
function podOf({ entry }: ListedEntry): string {
  const identity = podIdentity(entry.plan.cniArgs);
  return identity.ok && identity.value !== undefined ? `${identity.value.namespace}/${identity.value.name}` : "";
}
