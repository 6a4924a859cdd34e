// Calls of the daemon itself for running pods: through the agent, with the configuration that the runtime passed last. They execute no plugin.

import { resolve } from "node:path";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { callLocks } from "../../engine/call/call-locks.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import type { Shortfall } from "../../../src/kube/pod-shortfall.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import type { Call } from "../../engine/call.ts";
import { attachedInterfaces } from "../../engine/record/attached-interfaces.ts";
import { callOfRunning } from "../../engine/session/internal-call.ts";
import type { ListedEntry } from "../reconcile/entry-list.ts";
import type { KeptConfigurations } from "../reconcile/kept-configurations.ts";
import type { ResidentNode } from "../resident-node.ts";
import { isAnotherNamespace, isGone } from "../../system/netlink/namespace-links.ts";
import { ShimGone } from "../../protocol/shim.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { GuardedPod } from "../../engine/planned/plan-feature.ts";

/** Maximum wait for a call of the runtime that holds the container's lock, in ms. */
const lockMs = 10_000;

/** The work of a feature for a running pod. */
export interface PodWork {
  /** The feature's name in faults and log lines: `policies`. */
  readonly name: string;
  readonly isOn: (configuration: HostConfiguration) => boolean;
  readonly noAgent: FaultKind;
  /** The reason of the Event that a pod gets when its work fails. */
  readonly failureReason: PodEvent["reason"];
  /** `anew`: whatever was done before, so that changes by the pod are undone. */
  readonly apply: (call: Call, pod: GuardedPod, anew: boolean) => Promise<Result<Shortfall | void>>;
}

/** The calls for the running containers of one feature. */
export class PodCalls {
  readonly work: PodWork;
  readonly #node: ResidentNode;
  readonly #isNews: (pod: string, text: string) => boolean;
  readonly #log: (lines: string) => void;
  /** Containers whose path another network namespace has had: nothing is written there. */
  readonly #strangers: Set<string>;

  /** `isNews`: whether the text of a pod's failure or shortfall is another one than its last. `log` receives the log lines of a call. */
  constructor(
    node: ResidentNode,
    work: PodWork,
    isNews: (pod: string, text: string) => boolean,
    log: (lines: string) => void,
    strangers = new Set<string>(),
  ) {
    this.#node = node;
    this.work = work;
    this.#isNews = isNews;
    this.#log = log;
    this.#strangers = strangers;
  }

  /** Calls with other work for a container, whose failures send no Event. */
  with(apply: PodWork["apply"]): PodCalls {
    return new PodCalls(this.#node, { ...this.work, apply }, () => false, this.#log, this.#strangers);
  }

  /** Forgets what is known of all other containers. */
  forgetOthers(containers: ReadonlySet<string>): void {
    for (const each of this.#strangers) if (!containers.has(each)) this.#strangers.delete(each);
  }

  /** Does the work for one running container. Faults: those of the work, SHIM_GONE, CALL_BUSY, and those of the journal. */
  async refresh(
    configurations: KeptConfigurations,
    { key, entry }: ListedEntry,
    anew: boolean,
  ): Promise<Result<Shortfall | void>> {
    const { stateDirectory } = configurations;
    const agent = this.#node.agent();
    const { plan } = entry;
    const { work } = this;
    if (agent === undefined) return failed(fault(work.noAgent, `${work.name}: no agent is connected`));
    const stdin = configurations.load(plan.network);
    if (!stdin.ok) return stdin;
    if (stdin.value === undefined) return ok(undefined);
    const session = agent.openCall();
    let outcome: Result<Shortfall | void> = ok(undefined);
    try {
      const { result, logText } = await session.runInternal(
        agent.requestOf(callOfRunning("ADD", plan), Buffer.from(stdin.value)),
        async (opened) => {
          const { configuration } = opened;
          if (!work.isOn(configuration) || resolve(configuration.cniDir) !== stateDirectory) return ok(undefined);
          const locks = callLocks({ shim: agent.shim, takeLock: this.#node.takeLock }, stateDirectory, () => lockMs);
          const held = await locks.container(key);
          if (!held.ok) return held;
          try {
            outcome = await this.#underLock(opened, key, anew);
          } finally {
            held.value();
          }
          return outcome.ok ? ok(undefined) : outcome;
        },
      );
      this.#log(logText);
      return result.ok ? outcome : result;
    } catch (error) {
      if (error instanceof ShimGone) return failed(error.fault);
      throw error;
    } finally {
      void session.end();
    }
  }

  /** Under the container's lock: the runtime's DEL may have come before. */
  async #underLock(call: Call, key: ListedEntry["key"], anew: boolean): Promise<Result<Shortfall | void>> {
    const loaded = call.journal.load(key);
    if (!loaded.ok) return loaded;
    const entry = loaded.value;
    if (entry?.closed !== true || entry.failures.count > 0) return ok(undefined);
    const identity = podIdentity(entry.plan.cniArgs);
    const cluster = await call.cluster();
    if (!identity.ok || identity.value === undefined || cluster === undefined) return ok(undefined);
    const { namespace, name, uid } = identity.value;
    const pod = await cluster.pod(namespace, name, { uid });
    // The pod is gone: the runtime's DEL comes.
    if (!pod.ok) return pod.fault.kind === "POD_NOT_FOUND" ? ok(undefined) : pod;
    const { containerId, netns } = entry.plan;
    // A look for each change would be one effect more for each pod of the node.
    if (anew && (await isAnotherNamespace(call.shim, netns, entry.pod?.cookie))) this.#strangers.add(containerId);
    // The pod's network namespace is gone, and another container's has its path: the runtime's DEL comes.
    if (this.#strangers.has(containerId)) return ok(undefined);
    const guarded = { containerId, netns, cluster, pod: pod.value, interfaces: attachedInterfaces(entry) };
    const applied = await this.work.apply(call, guarded, anew);
    const shortfall = applied.ok ? applied.value : { reason: this.work.failureReason, message: applied.fault.msg };
    // The pod's sandbox has ended, so that nothing can be written there: the runtime's DEL comes.
    if (shortfall !== undefined && (await isGone(call.shim, netns))) return ok(undefined);
    // An ADD that fails needs no Event of Plexus: the kubelet sends one.
    if (shortfall !== undefined && this.#isNews(`${namespace}/${name}`, shortfall.message))
      cluster.tell(pod.value, { reason: shortfall.reason, message: shortfall.message });
    return applied;
  }
}
