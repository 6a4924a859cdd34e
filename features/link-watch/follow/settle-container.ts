// Confirms the faults of a container's links under its lock, and tells the pod: Events, and conditions in its network status.

import { resolve } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { networkStatusAnnotation } from "../../../src/npwg/network-status.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import type { Cluster, Pod } from "../../../host/cluster/cluster.ts";
import { statusMessage } from "../../../host/cluster/kube/api-client.ts";
import type { Call } from "../../../host/engine/call.ts";
import { callOfRunning } from "../../../host/engine/session/internal-call.ts";
import { type Agent, podOfCall, runAgentCall } from "../../../host/node/agent-call.ts";
import type { ListedEntry } from "../../../host/node/reconcile/entry-list.ts";
import type { KeptConfigurations } from "../../../host/node/reconcile/kept-configurations.ts";
import type { TakeLock } from "../../../host/store/locks/file-lock.ts";
import { type LinkConditions, withConditions } from "../rules/link-condition.ts";
import type { LinkFault } from "../rules/judge-link.ts";
import { type WatchedContainer, watchedContainer } from "./watched-links.ts";

/** Maximum writes of a status that other writers change at the same time. */
const maxAttempts = 8;
const mergePatch = "application/merge-patch+json";

/** The faults of a container's links by interface. */
export type LinkFaults = ReadonlyMap<string, LinkFault>;

/** The parts of the daemon by which links are looked at. */
export interface LookParts {
  readonly takeLock: TakeLock;
  /** Looks at the container's links; `gone`: its network namespace is gone. */
  readonly look: (agent: Agent, container: WatchedContainer) => Promise<Result<LinkFaults | "gone">>;
  /** Receives the log lines of a call. */
  readonly log: (lines: string) => void;
}

/** A state directory whose containers are watched. */
export interface WatchedDirectory extends LookParts {
  readonly stateDirectory: string;
  readonly configurations: KeptConfigurations;
}

/** Decides the Events and conditions by the confirmed faults. */
export type Telling = (faults: LinkFaults) => { readonly events: readonly PodEvent[]; readonly conditions: LinkConditions };

/**
 * Looks once more while no call of the runtime changes the container, then tells the pod. Nothing happens for a container that is no longer there. Faults:
 * CALL_BUSY, those of the journal, the look and the API; throws ShimGone.
 */
export async function settleContainer(
  state: WatchedDirectory,
  agent: Agent,
  { key, entry }: ListedEntry,
  telling: Telling,
): Promise<Result<void>> {
  const stdin = state.configurations.load(entry.plan.network);
  if (!stdin.ok) return stdin;
  if (stdin.value === undefined) return ok(undefined);
  const { stateDirectory, takeLock, log } = state;
  const variables = callOfRunning("DEL", entry.plan);
  return runAgentCall({ agent, variables, stdin: stdin.value, stateDirectory, takeLock, log }, async (call) => {
    if (resolve(call.configuration.cniDir) !== stateDirectory) return ok(undefined);
    const faults = await confirm(state, agent, call, key);
    if (!faults.ok || faults.value === undefined) return faults.ok ? ok(undefined) : faults;
    return tell(call, telling(faults.value));
  });
}

async function confirm(
  state: WatchedDirectory,
  agent: Agent,
  call: Call,
  key: ListedEntry["key"],
): Promise<Result<LinkFaults | undefined>> {
  const held = await call.locks.container(key);
  if (!held.ok) return held;
  try {
    const loaded = call.journal.load(key);
    if (!loaded.ok) return loaded;
    // The runtime's DEL came before.
    const container = loaded.value === undefined ? undefined : watchedContainer(loaded.value);
    if (container === undefined) return ok(undefined);
    const faults = await state.look(agent, container);
    return faults.ok && faults.value === "gone" ? ok(undefined) : (faults as Result<LinkFaults>);
  } finally {
    held.value();
  }
}

async function tell(call: Call, { events, conditions }: ReturnType<Telling>): Promise<Result<void>> {
  const { args } = call.request;
  const found = await podOfCall(call, args);
  if (!found.ok) {
    // The Events wait until the API server is back. Nobody would know by then that they are missing.
    const identity = podIdentity(args);
    const cluster = await call.cluster();
    if (identity.ok && identity.value !== undefined) for (const event of events) cluster?.tell(identity.value, event);
    return found;
  }
  if (found.value === undefined) return ok(undefined);
  const { cluster, pod } = found.value;
  for (const event of events) cluster.tell(pod, event);
  return publish(cluster, pod, conditions);
}

/**
 * Writes the conditions into the pod's network status as it is in the API now, by its resourceVersion: a status that a call of the runtime or a hot-plug writes
 * meanwhile is read again, and not replaced by the earlier one. A directory of manifests has no readers of conditions.
 */
async function publish({ api }: Cluster, { namespace, name, uid }: Pod, conditions: LinkConditions): Promise<Result<void>> {
  if (api === undefined) return ok(undefined);
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const what = `pod ${namespace}/${name}`;
  for (let attempt = 1; ; attempt++) {
    const answer = await api.call({ method: "GET", path, metadataOnly: true });
    if (!answer.ok) return answer;
    if (answer.value.status === 404) return ok(undefined);
    const now = readStatus(answer.value.body, what);
    if (!now.ok) return now;
    // A pod that was made again under the name has links of its own.
    if (uid !== undefined && now.value.uid !== uid) return ok(undefined);
    const next = now.value.status === undefined ? undefined : withConditions(now.value.status, conditions);
    if (next === undefined) return ok(undefined);
    const { resourceVersion } = now.value;
    const metadata = { uid: now.value.uid, resourceVersion, annotations: { [networkStatusAnnotation]: next } };
    const body = JSON.stringify({ metadata });
    const written = await api.call({
      method: "PATCH",
      path: `${path}/status`,
      contentType: mergePatch,
      body,
      metadataOnly: true,
    });
    if (!written.ok) return written;
    const { status } = written.value;
    if (status < 300 || status === 404 || status === 410) return ok(undefined);
    const why = `network status of ${what}: HTTP ${status}${statusMessage(written.value.body)}`;
    if (status !== 409 || attempt >= maxAttempts) return failed(fault("API_REFUSED", why));
  }
}

/** The parts of a pod's metadata that decide about its conditions. Fault API_REFUSED. */
function readStatus(
  body: string,
  what: string,
): Result<{ readonly uid: string | undefined; readonly resourceVersion: string; readonly status: string | undefined }> {
  const document = parseDocument(body, { what, kind: "API_REFUSED" });
  if (!document.ok) return document;
  const { parsed } = document.value;
  const meta = isJsonObject(parsed) ? readObjectMeta(parsed) : undefined;
  const metadata = isJsonObject(parsed) && isJsonObject(parsed["metadata"]) ? parsed["metadata"] : {};
  const { resourceVersion } = metadata;
  if (meta?.ok !== true || typeof resourceVersion !== "string")
    return failed(fault("API_REFUSED", `${what}: the answer has no metadata`));
  return ok({ uid: meta.value.uid, resourceVersion, status: meta.value.annotations.get(networkStatusAnnotation) });
}
