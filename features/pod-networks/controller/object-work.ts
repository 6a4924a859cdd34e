// The work on one PodNetwork or PodNetworkAttachment: its finalizer while it is in use, and its status. Each pass writes once at most, guarded by the
// object's resourceVersion; the watch then brings the written object, and with it the next pass.

import { attachmentStatus, differs, type NetworkStatus, podNetworkStatus } from "../rules/conditions.ts";
import { inUseFinalizer, type NetworkObject, podNetworkApiVersion } from "../rules/objects.ts";
import { isOwnProvider } from "../rules/provider.ts";
import type { ObjectAnswer } from "../../../host/cluster/kube/api-objects.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import { type NetworkCollections, paths, podQuery } from "./collections.ts";
import { parametersState } from "./definition-parameters.ts";
import { storedClaim } from "./stored-claim.ts";
import { storedAttachment, storedPod } from "./stored.ts";
import { attachmentKey, networkKey } from "./keys.ts";

const done: WorkOutcome = { kind: "done" };
/** Pause while the API has a user that the watch has not brought, in ms. */
const retryPauseMs = 10_000;

interface Target {
  readonly object: NetworkObject;
  readonly kind: "PodNetwork" | "PodNetworkAttachment";
  readonly key: string;
  readonly path: string;
}

interface Subject extends Target {
  readonly status: NetworkStatus;
}

/** The work on a PodNetwork. Objects of other providers stay untouched (KE-10). */
export async function workOnNetwork(context: PartContext, collections: NetworkCollections, name: string): Promise<WorkOutcome> {
  const object = collections.networks.get("", name);
  if (object === undefined || !isOwnProvider(object.provider)) return done;
  const key = networkKey(name);
  const parameters = parametersState(object.parametersRefs, "", (...id) => collections.definitions.get(...id));
  const status = podNetworkStatus(object, parameters, collections.users.has(key), timeOf(context.clock));
  return work(context, collections, { object, kind: "PodNetwork", key, path: `${paths.networks}/${name}`, status });
}

/** The work on a PodNetworkAttachment, unless its PodNetwork belongs to another provider. */
export async function workOnAttachment(
  context: PartContext,
  collections: NetworkCollections,
  namespace: string,
  name: string,
): Promise<WorkOutcome> {
  const object = collections.attachments.get(namespace, name);
  if (object === undefined) return done;
  const network = collections.networks.get("", object.podNetworkName);
  const key = attachmentKey(namespace, name);
  const path = `/apis/${podNetworkApiVersion}/namespaces/${namespace}/podnetworkattachments/${name}`;
  const target: Target = { object, kind: "PodNetworkAttachment", key, path };
  if (network !== undefined && !isOwnProvider(network.provider)) {
    // An earlier PodNetwork of this name may have been Plexus' own: no other controller removes the finalizer.
    return (await releaseIfUnused(context, collections, target)) ?? done;
  }
  const find = (...id: [string, string]): ReturnType<typeof collections.definitions.get> => collections.definitions.get(...id);
  const parameters = parametersState(object.parametersRefs, namespace, find, network?.parametersRefs);
  const status = attachmentStatus(object, network, parameters, collections.users.has(key), timeOf(context.clock));
  return work(context, collections, { ...target, status });
}

async function work(context: PartContext, collections: NetworkCollections, subject: Subject): Promise<WorkOutcome> {
  const { object, key, path, status } = subject;
  const isUsed = collections.users.has(key);
  const isKept = object.finalizers.includes(inUseFinalizer);
  // The API server accepts no new finalizer for an object that is being deleted.
  if (isUsed && !isKept && !object.isDeleted) {
    return outcomeOf(await setFinalizers(context, subject, [...object.finalizers, inUseFinalizer]));
  }
  const released = await releaseIfUnused(context, collections, subject);
  if (released !== undefined) return released;
  if (!differs(object, status)) return done;
  const metadata = { resourceVersion: object.resourceVersion };
  const written = await context.objects.patch(`${path}/status`, { metadata, status });
  if (written.kind === "object") announce(context, subject);
  return outcomeOf(written);
}

/** Removes the finalizer of an object without users; undefined if the object has users or no finalizer. */
async function releaseIfUnused(
  context: PartContext,
  collections: NetworkCollections,
  target: Target,
): Promise<WorkOutcome | undefined> {
  const { finalizers } = target.object;
  if (collections.users.of(target.key).length > 0 || !finalizers.includes(inUseFinalizer)) return undefined;
  const users = await listedUsers(context, target, collections.claims !== undefined);
  if (typeof users !== "boolean") return users;
  // The watch brings the user, and with it the next pass. Until then each look lists all pods that name networks.
  if (users) return { kind: "again", afterMs: retryPauseMs };
  const kept = finalizers.filter((each) => each !== inUseFinalizer);
  return outcomeOf(await setFinalizers(context, target, kept));
}

function setFinalizers({ objects }: PartContext, { object, path }: Target, finalizers: readonly string[]): Promise<ObjectAnswer> {
  return objects.patch(path, { metadata: { resourceVersion: object.resourceVersion, finalizers } });
}

/**
 * Whether the API has a user of the object. Before its finalizer goes, the API itself is asked: a watch may lag behind. The answer is an outcome
 * if the API did not answer.
 */
async function listedUsers(
  { objects }: PartContext,
  { object, kind }: Target,
  withClaims: boolean,
): Promise<boolean | WorkOutcome> {
  const podsPath = object.namespace === "" ? paths.pods : `/api/v1/namespaces/${object.namespace}/pods`;
  let isUsed = false;
  // Both looks end with the first user: there may be 60,000 pods.
  const pods = await objects.each(podsPath, { query: podQuery, metadataOnly: true }, (item) => {
    isUsed = storedPod(item)?.value.entries.some((entry) => entry.kind === kind && entry.name === object.name) === true;
    return !isUsed;
  });
  if (pods.kind !== "read") return { ...pods, kind: "failed" };
  if (isUsed || kind === "PodNetworkAttachment") return isUsed;
  const attachments = await objects.each(paths.attachments, {}, (item) => {
    isUsed = storedAttachment(item)?.value.podNetworkName === object.name;
    return !isUsed;
  });
  // While Plexus' CustomResourceDefinitions are removed, the attachments' may be gone before the networks'.
  if (attachments.kind === "failed" || isUsed || !withClaims) return attachments.kind === "failed" ? attachments : isUsed;
  const claims = await objects.each(paths.claims, {}, (item) => {
    isUsed = storedClaim(item)?.value.includes(object.name) === true;
    return !isUsed;
  });
  return claims.kind === "failed" ? claims : isUsed;
}

/** An Event for a change of the condition Ready. */
function announce({ event }: PartContext, { object, kind, status }: Subject): void {
  const before = object.conditions.find(({ type }) => type === "Ready");
  const ready = status.conditions.find(({ type }) => type === "Ready");
  if (ready === undefined || (before?.status === ready.status && before.reason === ready.reason)) return;
  const { namespace, name, uid } = object;
  const target = {
    kind,
    apiVersion: podNetworkApiVersion,
    eventNamespace: namespace === "" ? "default" : namespace,
    clusterScoped: namespace === "",
    name,
    uid,
  };
  event(target, { reason: ready.reason, message: ready.message, type: ready.status === "True" ? "Normal" : "Warning" });
}

function timeOf(clock: PartContext["clock"]): string {
  return `${clock.date().toISOString().slice(0, 19)}Z`;
}
