// Takes plexus-controller's finalizers from the objects of a cluster that has no controller any more. Otherwise the objects, their
// namespaces and their CustomResourceDefinitions would stay in deletion for ever.

import { setTimeout } from "node:timers/promises";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { judgeLease, readLease } from "../../../src/kube/lease.ts";
import type { ApiObjects, ObjectAnswer } from "../../cluster/kube/api-objects.ts";
import type { Clock } from "../../system/clock.ts";
import { finalizersOf, type HeldObject, pathOf } from "./held-objects.ts";

/** The Lease by which replicas of plexus-controller elect their leader. */
export interface ControllerLease {
  readonly namespace: string;
  readonly name: string;
}

/** Interval in ms of the reads of the Lease. */
const intervalMs = 1_000;
/** A controller's Lease has 15 s by default and 600 s at most; a longer one is not waited for. */
const maxLeaseSeconds = 600;
/** Objects that are patched at the same time. */
const atOnce = 16;
/** Attempts for an object that others change meanwhile. */
const maxAttempts = 5;

/**
 * Answers the identity of a controller that runs; undefined if none does. The clocks of two machines differ, so a held Lease counts as left when it
 * was not renewed for its duration by this process' clock. Fault CLUSTER_UNREADABLE.
 */
export async function runningController(
  objects: ApiObjects,
  { namespace, name }: ControllerLease,
  { now }: Clock,
): Promise<Result<string | undefined>> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
  const began = now();
  let first: string | undefined;
  for (;;) {
    const read = await objects.get(path);
    if (read.kind === "absent") return ok(undefined);
    const lease = read.kind === "object" ? readLease(read.object) : undefined;
    if (lease === undefined) {
      return failed(fault("CLUSTER_UNREADABLE", `GET ${path}: ${"why" in read ? read.why : "the answer is not a Lease"}`));
    }
    first ??= lease.resourceVersion;
    const unchangedMs = now() - began;
    if (judgeLease(lease, "", unchangedMs) !== "held") return ok(undefined);
    if (lease.resourceVersion !== first || lease.durationSeconds > maxLeaseSeconds) return ok(lease.holder);
    await setTimeout(intervalMs);
  }
}

/** Removes the finalizers; answers a sentence for each object that keeps its finalizer. */
export async function releaseFinalizers(objects: ApiObjects, held: readonly HeldObject[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let at = 0; at < held.length; at += atOnce) {
    const outcomes = await Promise.all(held.slice(at, at + atOnce).map((each) => release(objects, each)));
    problems.push(...outcomes.filter((each) => each !== undefined));
  }
  return problems;
}

async function release(objects: ApiObjects, object: HeldObject): Promise<string | undefined> {
  const path = pathOf(object);
  let answer: ObjectAnswer = await objects.get(path);
  for (let attempt = 1; answer.kind === "object" && attempt <= maxAttempts; attempt++) {
    const metadata = isJsonObject(answer.object["metadata"]) ? answer.object["metadata"] : {};
    const finalizers = finalizersOf(answer.object);
    // The object was replaced by another one of the same name after the list.
    if (metadata["uid"] !== object.uid || !finalizers.includes(object.kind.finalizer)) return undefined;
    const { uid, resourceVersion } = metadata;
    const kept = finalizers.filter((each) => each !== object.kind.finalizer);
    const written = await objects.patch(path, { metadata: { uid, resourceVersion, finalizers: kept } });
    if (written.kind === "object") return undefined;
    answer = written.kind === "conflict" ? await objects.get(path) : written;
  }
  if (answer.kind === "absent") return undefined;
  const why = answer.kind === "object" ? "others change the object all the time" : answer.why;
  return `${path} keeps its finalizer ${object.kind.finalizer}: ${why}`;
}
