// Calls of the daemon itself for running pods: through the agent, with the configuration that the runtime passed last. They execute no plugin.

import { resolve } from "node:path";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import type { Shortfall } from "../../../src/kube/pod-shortfall.ts";
import type { Call } from "../../engine/call.ts";
import { attachedInterfaces } from "../../engine/record/attached-interfaces.ts";
import { callOfRunning } from "../../engine/session/internal-call.ts";
import { podOfCall, tryAgentCall } from "../agent-call.ts";
import type { ListedEntry } from "../reconcile/entry-list.ts";
import type { KeptConfigurations } from "../reconcile/kept-configurations.ts";
import type { ResidentNode } from "../resident-node.ts";
import { isAnotherNamespace, isGone } from "../../system/netlink/namespace-links.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { GuardedPod } from "../../engine/planned/plan-feature.ts";

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
    const { work } = this;
    if (agent === undefined) return failed(fault(work.noAgent, `${work.name}: no agent is connected`));
    const stdin = configurations.load(entry.plan.network);
    if (!stdin.ok) return stdin;
    if (stdin.value === undefined) return ok(undefined);
    const { takeLock } = this.#node;
    const variables = callOfRunning("ADD", entry.plan);
    const init = { agent, variables, stdin: stdin.value, stateDirectory, takeLock, log: this.#log };
    return tryAgentCall<Shortfall | void>(init, async (call) => {
      const { configuration } = call;
      if (!work.isOn(configuration) || resolve(configuration.cniDir) !== stateDirectory) return ok(undefined);
      const held = await call.locks.container(key);
      if (!held.ok) return held;
      try {
        return await this.#underLock(call, key, anew);
      } finally {
        held.value();
      }
    });
  }

  /** Under the container's lock: the runtime's DEL may have come before. */
  async #underLock(call: Call, key: ListedEntry["key"], anew: boolean): Promise<Result<Shortfall | void>> {
    const loaded = call.journal.load(key);
    if (!loaded.ok) return loaded;
    const entry = loaded.value;
    if (entry?.closed !== true || entry.failures.count > 0) return ok(undefined);
    const { containerId, netns, cniArgs } = entry.plan;
    const found = await podOfCall(call, cniArgs);
    if (!found.ok || found.value === undefined) return found.ok ? ok(undefined) : found;
    const { cluster, pod } = found.value;
    // A look for each change would be one effect more for each pod of the node.
    if (anew && (await isAnotherNamespace(call.shim, netns, entry.pod?.cookie))) this.#strangers.add(containerId);
    // The pod's network namespace is gone, and another container's has its path: the runtime's DEL comes.
    if (this.#strangers.has(containerId)) return ok(undefined);
    const guarded = { containerId, netns, cluster, pod, interfaces: attachedInterfaces(entry) };
    const applied = await this.work.apply(call, guarded, anew);
    const shortfall = applied.ok ? applied.value : { reason: this.work.failureReason, message: applied.fault.msg };
    // The pod's sandbox has ended, so that nothing can be written there: the runtime's DEL comes.
    if (shortfall !== undefined && (await isGone(call.shim, netns))) return ok(undefined);
    // An ADD that fails needs no Event of Plexus: the kubelet sends one.
    if (shortfall !== undefined && this.#isNews(`${pod.namespace}/${pod.name}`, shortfall.message))
      cluster.tell(pod, { reason: shortfall.reason, message: shortfall.message });
    return applied;
  }
}
