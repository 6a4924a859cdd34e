// Calls of the daemon's own: through the agent it undoes attachments, changes those of running pods, or looks at them, as a call of the runtime would. The code, the
// configuration and the locks are those of such a call.

import { resolve } from "node:path";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { podIdentity } from "../../src/kube/pod-identity.ts";
import type { Cluster, Pod } from "../cluster/cluster.ts";
import type { Call } from "../engine/call.ts";
import { callLocks } from "../engine/call/call-locks.ts";
import type { CallSession } from "../engine/session/call-session.ts";
import type { Environment } from "../protocol/fields.ts";
import type { Request } from "../protocol/messages.ts";
import { type AgentEffects, ShimGone } from "../protocol/shim.ts";
import type { TakeLock } from "../store/locks/file-lock.ts";

/** The agent on one connection. Each connection has an object of its own. */
export interface Agent {
  /** Looks at network namespaces and links, and sends packets in pods. */
  readonly shim: AgentEffects;
  /** The agent's environment. */
  readonly environment: Environment;
  /** Whether the agent executes native plugins. */
  readonly runsPlugins: boolean;
  /** Opens a call whose effects the agent carries out. */
  readonly openCall: () => CallSession;
  /** The request that a shim started by the runtime would send for such a call. */
  readonly requestOf: (variables: Environment, stdin: Uint8Array) => Request;
}

/** A call of the daemon's own. */
export interface AgentCall {
  readonly agent: Agent;
  /** The `CNI_*` variables of the runtime's call that this one stands for. */
  readonly variables: Environment;
  /** Plexus' own configuration, as the runtime passed it last. */
  readonly stdin: string;
  /** The directory with the container's journal entry: absolute, without a slash at its end. */
  readonly stateDirectory: string;
  readonly takeLock: TakeLock;
  /** Maximum wait for a call of the runtime that holds the container's lock, in ms; default 10 s. */
  readonly maxWaitMs?: number;
  /** Receives the log lines of the call. */
  readonly log: (lines: string) => void;
}

/**
 * Runs `work` with the context that the runtime's call would have. `work` takes the locks itself. Faults: those of reading a call's configuration, and those of
 * `work`. Throws ShimGone.
 */
export async function runAgentCall<T>(init: AgentCall, work: (call: Call) => Promise<Result<T>>): Promise<Result<T>> {
  const { agent, variables, stdin, stateDirectory, takeLock, maxWaitMs = 10_000 } = init;
  const locks = callLocks({ shim: agent.shim, takeLock }, stateDirectory, () => maxWaitMs);
  const session = agent.openCall();
  try {
    const request = agent.requestOf(variables, Buffer.from(stdin));
    const { result, logText } = await session.runInternal(request, (opened) => work({ ...opened, locks }));
    init.log(logText);
    return result;
  } finally {
    void session.end();
  }
}

/** As `runAgentCall`, but an agent that ends meanwhile is the fault SHIM_GONE. */
export async function tryAgentCall<T>(init: AgentCall, work: (call: Call) => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await runAgentCall(init, work);
  } catch (error) {
    if (error instanceof ShimGone) return failed(error.fault);
    throw error;
  }
}

/**
 * The pod of a call by its `CNI_ARGS`, and the source that has it. Undefined: the container is no pod, no source of pods is configured, or the pod is gone,
 * so that its DEL comes. Faults: those of the source.
 */
export async function podOfCall(
  call: Call,
  args: string,
): Promise<Result<{ readonly cluster: Cluster; readonly pod: Pod } | undefined>> {
  const identity = podIdentity(args);
  const cluster = await call.cluster();
  if (!identity.ok || identity.value === undefined || cluster === undefined) return ok(undefined);
  const { namespace, name, uid } = identity.value;
  const pod = await cluster.pod(namespace, name, { uid });
  if (!pod.ok) return pod.fault.kind === "POD_NOT_FOUND" ? ok(undefined) : pod;
  return ok({ cluster, pod: pod.value });
}

/** Fault INTERNAL: the configuration that the daemon keeps under the name `network` is that of another name or state directory. */
export function requireKept({ configuration }: Call, stateDirectory: string, network: string): Result<void> {
  const { cniDir, name } = configuration;
  if (resolve(cniDir) === stateDirectory && name === network) return ok(undefined);
  return failed(fault("INTERNAL", `configuration ${network} kept in ${stateDirectory} is ${name} of ${cniDir}`));
}
