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
import type { RoundAgent } from "../reconcile/clean.ts";
import type { ListedEntry } from "../reconcile/entry-list.ts";
import type { KeptConfigurations } from "../reconcile/kept-configurations.ts";
import { isAnotherNamespace } from "../../system/netlink/namespace-links.ts";
import { ShimGone } from "../../protocol/shim.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
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

/** The parts of the daemon that such calls use. */
export interface PodCallsInit {
  readonly work: PodWork;
  readonly stateDirectory: string;
  readonly configurations: KeptConfigurations;
  readonly agent: () => RoundAgent | undefined;
  readonly takeLock: TakeLock;
  /** Receives the log lines of a call. */
  readonly log: (lines: string) => void;
  /** Containers whose path another network namespace has had: nothing is written there. */
  readonly strangers: Set<string>;
  /** Whether the text of a pod's failure or shortfall is another one than its last. */
  readonly isNews: (pod: string, text: string) => boolean;
}

/** Does the work for one running container. Faults: those of the work, SHIM_GONE, CALL_BUSY, and those of the journal. */
export async function refreshContainer(
  init: PodCallsInit,
  { key, entry }: ListedEntry,
  anew: boolean,
): Promise<Result<Shortfall | void>> {
  const agent = init.agent();
  const { plan } = entry;
  const { work } = init;
  if (agent === undefined) return failed(fault(work.noAgent, `${work.name}: no agent is connected`));
  const stdin = init.configurations.load(plan.network);
  if (!stdin.ok) return stdin;
  if (stdin.value === undefined) return ok(undefined);
  const session = agent.openCall();
  let outcome: Result<Shortfall | void> = ok(undefined);
  try {
    const { result, logText } = await session.runInternal(
      agent.requestOf(callOfRunning("ADD", plan), Buffer.from(stdin.value)),
      async (opened) => {
        const { configuration } = opened;
        if (!work.isOn(configuration) || resolve(configuration.cniDir) !== init.stateDirectory) return ok(undefined);
        const locks = callLocks({ shim: agent.shim, takeLock: init.takeLock }, init.stateDirectory, () => lockMs);
        const held = await locks.container(key);
        if (!held.ok) return held;
        try {
          outcome = await refresh(init, opened, key, anew);
        } finally {
          held.value();
        }
        return outcome.ok ? ok(undefined) : outcome;
      },
    );
    init.log(logText);
    return result.ok ? outcome : result;
  } catch (error) {
    if (error instanceof ShimGone) return failed(error.fault);
    throw error;
  } finally {
    void session.end();
  }
}

/** Under the container's lock: the runtime's DEL may have come before. */
async function refresh(
  init: PodCallsInit,
  call: Call,
  key: ListedEntry["key"],
  anew: boolean,
): Promise<Result<Shortfall | void>> {
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
  if (anew && (await isAnotherNamespace(call.shim, netns, entry.pod?.cookie))) init.strangers.add(containerId);
  // The pod's network namespace is gone, and another container's has its path: the runtime's DEL comes.
  if (init.strangers.has(containerId)) return ok(undefined);
  const guarded = { containerId, netns, cluster, pod: pod.value, interfaces: attachedInterfaces(entry) };
  const applied = await init.work.apply(call, guarded, anew);
  const shortfall = applied.ok ? applied.value : { reason: init.work.failureReason, message: applied.fault.msg };
  // An ADD that fails needs no Event of Plexus: the kubelet sends one.
  if (shortfall !== undefined && init.isNews(`${namespace}/${name}`, shortfall.message))
    cluster.tell(pod.value, { reason: shortfall.reason, message: shortfall.message });
  return applied;
}
