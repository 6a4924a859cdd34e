// The objects of a cluster that have a finalizer of plexus-controller.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { ApiObjects } from "../../cluster/kube/api-objects.ts";
import type { FinalizerKind } from "./finalizer-kinds.ts";

/** An object with a finalizer. */
export interface HeldObject {
  readonly kind: FinalizerKind;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Whether its deletion was asked for, so that it goes with its last finalizer. */
  readonly isDeleted: boolean;
  /** The resource outside of the cluster that stays allocated once the finalizer is removed, such as the port of a fabric; empty: none. */
  readonly outside: string;
}

/** Lists the objects of these kinds that the cluster has. Fault CLUSTER_UNREADABLE. */
export async function heldObjects(objects: ApiObjects, kinds: readonly FinalizerKind[]): Promise<Result<readonly HeldObject[]>> {
  const held: HeldObject[] = [];
  for (const kind of kinds) {
    const path = `/apis/${kind.apiVersion}/${kind.plural}`;
    const metadataOnly = kind.outside === undefined;
    const read = await objects.each(path, { metadataOnly }, (item) => {
      held.push(...heldObject(kind, item));
      return true;
    });
    // Without its CustomResourceDefinition a kind has no objects.
    if (read.kind === "failed") return failed(fault("CLUSTER_UNREADABLE", `GET ${path}: ${read.why}`));
  }
  return ok(held);
}

/** The path of an object. */
export function pathOf({ kind, namespace, name }: HeldObject): string {
  const scope = namespace === "" ? "" : `/namespaces/${namespace}`;
  return `/apis/${kind.apiVersion}${scope}/${kind.plural}/${name}`;
}

/** The finalizers of an object. Only its metadata is read: an object may be invalid otherwise. */
export function finalizersOf(object: unknown): readonly string[] {
  const metadata = isJsonObject(object) && isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const finalizers = metadata["finalizers"];
  return Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === "string") : [];
}

function heldObject(kind: FinalizerKind, item: unknown): readonly HeldObject[] {
  if (!finalizersOf(item).includes(kind.finalizer)) return [];
  const metadata = isJsonObject(item) && isJsonObject(item["metadata"]) ? item["metadata"] : {};
  const { namespace = "", name, uid, deletionTimestamp } = metadata;
  if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") return [];
  return [{ kind, namespace, name, uid, isDeleted: typeof deletionTimestamp === "string", outside: kind.outside?.(item) ?? "" }];
}
