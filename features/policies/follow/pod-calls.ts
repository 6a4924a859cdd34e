// Calls of the daemon itself for running pods: through the agent, with the configuration that the runtime passed last. They execute no plugin.

import { resolve } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { callLocks } from "../../../host/engine/call/call-locks.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import type { Call } from "../../../host/engine/call.ts";
import { callOfRunning } from "../../../host/engine/session/internal-call.ts";
import type { RoundAgent } from "../../../host/node/reconcile/clean.ts";
import type { ListedEntry } from "../../../host/node/reconcile/entry-list.ts";
import type { KeptConfigurations } from "../../../host/node/reconcile/kept-configurations.ts";
import { ShimGone } from "../../../host/protocol/shim.ts";
import type { TakeLock } from "../../../host/store/locks/file-lock.ts";
import { applyPolicies } from "../node/guard-pod.ts";

/** Maximum wait for a call of the runtime that holds the container's lock, in ms. */
const lockMs = 10_000;

/** The parts of the daemon that such calls use. */
export interface PodCallsInit {
  readonly stateDirectory: string;
  readonly configurations: KeptConfigurations;
  readonly agent: () => RoundAgent | undefined;
  readonly takeLock: TakeLock;
  /** Receives the log lines of a call. */
  readonly log: (lines: string) => void;
}

/** Applies the policies of one running container. Faults: POLICY_FAILED, SHIM_GONE, CALL_BUSY, and those of the journal. */
export async function refreshContainer(init: PodCallsInit, { key, entry }: ListedEntry, anew: boolean): Promise<Result<void>> {
  const agent = init.agent();
  const { plan } = entry;
  if (agent === undefined) return failed(fault("POLICY_FAILED", "policies: no agent is connected"));
  const stdin = init.configurations.load(plan.network);
  if (!stdin.ok) return stdin;
  if (stdin.value === undefined) return ok(undefined);
  const session = agent.openCall();
  let outcome: Result<void> = ok(undefined);
  try {
    const { result, logText } = await session.runInternal(
      agent.requestOf(callOfRunning("ADD", plan), Buffer.from(stdin.value)),
      async (opened) => {
        const { cniDir, policies } = opened.configuration;
        if (policies === undefined || resolve(cniDir) !== init.stateDirectory) return ok(undefined);
        const locks = callLocks({ shim: agent.shim, takeLock: init.takeLock }, init.stateDirectory, () => lockMs);
        const held = await locks.container(key);
        if (!held.ok) return held;
        try {
          outcome = await refresh(opened, key, anew);
        } finally {
          held.value();
        }
        return outcome;
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
async function refresh(call: Call, key: ListedEntry["key"], anew: boolean): Promise<Result<void>> {
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
  const { containerId, netns, attachments } = entry.plan;
  return applyPolicies(call, { containerId, netns, cluster, pod: pod.value, interfaces: attachments }, anew);
}
