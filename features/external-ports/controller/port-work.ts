// The work on one ExternalPort: the provider makes the port, the object says what the node must plug, and the port is released when its pod is gone.

import { type ExternalPort, externalPortApiVersion, externalPortFinalizer, isReleased } from "../rules/external-port.ts";
import { canonicalRequest, requestedProblem } from "../rules/requested-values.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import type { PortCollections } from "./collections.ts";
import { podFacts } from "./pod-work.ts";
import { failure, type PortProvider, type ProviderFailure } from "./provider.ts";
import type { ConfiguredProvider } from "./provider-settings.ts";
import { conditionOf, portPath, readyReasons, says, type TypedJudgement, writeStatus } from "./status.ts";
import { objectIn } from "../rules/values.ts";

const done: WorkOutcome = { kind: "done" };
/** Pauses between looks whether the fabric forwards, in ms. A port becomes active some 0.3 s after it is plugged. */
const pausesMs: readonly number[] = [250, 250, 250, 250, 500, 500, 1_000, 1_000, 2_000, 2_000, 5_000];
/** Longest pause between looks at a port that is not active, in ms. */
const maxPauseMs = 15_000;

/** The looks at a port's state in the fabric so far, by key. */
export type ActiveLooks = Map<string, number>;

/** The state that all work on ports shares. */
export interface PortWork {
  readonly context: PartContext;
  readonly collections: PortCollections;
  readonly providers: ReadonlyMap<string, ConfiguredProvider>;
  readonly looks: ActiveLooks;
}

/** The work on the ExternalPort of this namespace and name. */
export async function workOnPort(work: PortWork, namespace: string, name: string): Promise<WorkOutcome> {
  const object = work.collections.ports.get(namespace, name);
  if (object === undefined || isReleased(object)) {
    work.looks.delete(`${namespace}/${name}`);
    work.collections.unclaim(namespace, name);
    return done;
  }
  const isUsed = await podUses(work.context, object);
  if (typeof isUsed !== "boolean") return isUsed;
  if (!isUsed) return release(work, object);
  if (object.isDeleted) {
    // The pod's interface still needs the port: the finalizer keeps it until the pod is gone (KU-17).
    tell(work.context, object, {
      reason: "NoExternalPort",
      message: `ExternalPort ${name} was deleted while its pod runs: its port stays until the pod is gone`,
    });
    return done;
  }
  const provider = providerOf(work, object);
  if ("judgement" in provider) return judge(work.context, object, provider.judgement);
  if (conditionOf(object, "Ready")?.status !== "True") return ensure(work, object, provider.provider);
  // The collection has the status, which stands for the claim from now on.
  work.collections.unclaim(namespace, name);
  return lookWhetherActive(work, object, provider.provider);
}

/** Whether the object's pod exists and has not finished. A pod of the same name with another UID is another pod (KU-16). */
async function podUses({ objects }: PartContext, { namespace, spec }: ExternalPort): Promise<boolean | WorkOutcome> {
  const answer = await objects.get(`/api/v1/namespaces/${namespace}/pods/${spec.podName}`);
  if (answer.kind === "absent") return false;
  if (answer.kind !== "object") return outcomeOf(answer);
  const pod = podFacts(answer.object);
  return pod?.uid === spec.podUid && pod.phase !== "Succeeded" && pod.phase !== "Failed";
}

async function ensure(
  { context, collections, looks }: PortWork,
  object: ExternalPort,
  provider: PortProvider,
): Promise<WorkOutcome> {
  const { namespace, name, spec } = object;
  const key = `${namespace}/${name}`;
  const { podName, podUid, nodeName } = spec;
  const requested = canonicalRequest(spec.requested);
  const pod = { namespace, name: podName, uid: podUid };
  const made = await provider.ensure({ key, pod, nodeName, parameters: objectIn(spec.parameters) ?? {}, requested });
  // This answer replaces an earlier one whose status may not have been written.
  collections.unclaim(namespace, name);
  if (!made.ok) return refuse(context, object, made);
  const absent = requestedProblem(requested, made.value);
  if (absent !== undefined) return refuse(context, object, failure("refused", `the provider's answer: ${absent}`));
  // The port of another pod would bring its packets here. It may also be one that is just released, so the next try decides.
  if (!collections.claim(object, made.value.providerId))
    return refuse(context, object, failure("unavailable", "the provider's answer: its port is another ExternalPort's"));
  looks.delete(key);
  const judgement = { type: "Ready", status: "True", reason: "Ready", message: "the node can plug the port" } as const;
  const written = await writeStatus(context, object, judgement, made.value);
  // No other work on the object follows. After any other failure the next try has a newer answer.
  if (written.kind === "absent") collections.unclaim(namespace, name);
  return outcomeOf(written);
}

/** A failure stands in the condition, where the node reads it, and in an Event of the pod. */
async function refuse(
  context: PartContext,
  object: ExternalPort,
  { reason, message, pauseMs }: ProviderFailure,
): Promise<WorkOutcome> {
  const judgement = { type: "Ready", status: "False", reason: readyReasons[reason], message } as const;
  if (!says(object, judgement)) {
    tell(context, object, { reason: judgement.reason, message });
    const written = await writeStatus(context, object, judgement);
    if (written.kind !== "object") return outcomeOf(written);
  }
  return { kind: "failed", why: message, ...(pauseMs === undefined ? {} : { pauseMs }) };
}

async function judge(context: PartContext, object: ExternalPort, judgement: TypedJudgement): Promise<WorkOutcome> {
  if (says(object, judgement)) return done;
  tell(context, object, judgement);
  return outcomeOf(await writeStatus(context, object, judgement));
}

async function lookWhetherActive(
  { context, looks }: PortWork,
  object: ExternalPort,
  provider: PortProvider,
): Promise<WorkOutcome> {
  if (conditionOf(object, "Active")?.status === "True" || object.port === undefined) return done;
  const key = `${object.namespace}/${object.name}`;
  const active = await provider.active({ key, providerId: object.port.providerId });
  if (!active.ok)
    return { kind: "failed", why: active.message, ...(active.pauseMs === undefined ? {} : { pauseMs: active.pauseMs }) };
  if (active.value) {
    looks.delete(key);
    const judgement = {
      type: "Active",
      status: "True",
      reason: "Active",
      message: "the fabric forwards packets of the port",
    } as const;
    return outcomeOf(await writeStatus(context, object, judgement));
  }
  const count = looks.get(key) ?? 0;
  looks.set(key, count + 1);
  return { kind: "again", afterMs: pausesMs[count] ?? maxPauseMs };
}

/** Releases the port of a pod that is gone, then lets the object go. */
async function release(work: PortWork, object: ExternalPort): Promise<WorkOutcome> {
  const { context, collections, providers } = work;
  const { namespace, name, uid, resourceVersion, finalizers, port, spec } = object;
  if (!object.isDeleted) return outcomeOf(await context.objects.remove(portPath(namespace, name), { uid }));
  const configured = providers.get(spec.provider);
  if (configured !== undefined) {
    const released = await configured.provider.release({
      key: `${namespace}/${name}`,
      providerId: port === undefined ? "" : port.providerId,
    });
    if (!released.ok)
      return { kind: "failed", why: released.message, ...(released.pauseMs === undefined ? {} : { pauseMs: released.pauseMs }) };
  } else if (port !== undefined) {
    // Only the provider's settings make a release possible: the object keeps its name until then.
    return { kind: "failed", why: `provider "${spec.provider}" is not configured: the port of ${name} is not released` };
  }
  // The status of a port whose pod is gone may never have been written.
  collections.unclaim(namespace, name);
  const kept = finalizers.filter((each) => each !== externalPortFinalizer);
  return outcomeOf(await context.objects.patch(portPath(namespace, name), { metadata: { resourceVersion, finalizers: kept } }));
}

function providerOf(
  { providers }: PortWork,
  { spec }: ExternalPort,
): { readonly provider: PortProvider } | { readonly judgement: TypedJudgement } {
  const configured = providers.get(spec.provider);
  if (configured === undefined) return refused(`provider "${spec.provider}" is not in plexus-controller's settings`);
  const { namespace, name } = spec.definition;
  if (!configured.namespaces.includes("*") && !configured.namespaces.includes(namespace)) {
    return refused(
      `definition ${namespace}/${name} may not use provider "${spec.provider}": its settings allow other namespaces`,
    );
  }
  return { provider: configured.provider };
}

function refused(message: string): { readonly judgement: TypedJudgement } {
  return { judgement: { type: "Ready", status: "False", reason: readyReasons.invalid, message } };
}

function tell(
  { event }: PartContext,
  { namespace, name, uid, spec }: ExternalPort,
  { reason, message }: { reason: string; message: string },
): void {
  const content = { reason, message, type: "Warning" } as const;
  event({ kind: "Pod", eventNamespace: namespace, name: spec.podName, uid: spec.podUid }, content);
  event({ kind: "ExternalPort", apiVersion: externalPortApiVersion, eventNamespace: namespace, name, uid }, content);
}
