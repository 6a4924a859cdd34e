// ResourceSlices of a node (resource.k8s.io/v1): one pool, whose name is the node's, in slices of 64 devices.

import { isJsonObject } from "../../../src/json/document.ts";
import { driverName } from "./names.ts";
import { type TaintTimes, taintTimesOf } from "./taint-times.ts";

/** Kubernetes' maximum of devices in a slice with taints (ResourceSliceMaxDevicesWithAdvancedFeatures). */
const maxDevices = 64;

/** The slice's annotation with the checksum of the pool's devices: the API server completes and rewrites the devices themselves. */
export const checksumAnnotation = "plexus.dev/devices-checksum";

/** A slice of the API, as far as an update needs it. */
export interface StoredSlice {
  readonly name: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly checksum: string;
  /** The uid of the Node that owns the slice; empty without one. */
  readonly owner: string;
  readonly taintTimes: TaintTimes;
}

/** A change of the API's slices. */
export type SliceChange =
  | { readonly kind: "create"; readonly object: Readonly<Record<string, unknown>> }
  | { readonly kind: "replace"; readonly name: string; readonly object: Readonly<Record<string, unknown>> }
  | { readonly kind: "remove"; readonly name: string };

/** The collection's path. */
export const slicesPath = "/apis/resource.k8s.io/v1/resourceslices";

/** The fields by which a node's slices are selected. */
export function sliceSelector(node: string): string {
  return `spec.driver=${driverName},spec.nodeName=${node}`;
}

/** Reads a slice of this driver and node; undefined for another one. */
export function storedSlice(object: unknown, node: string): StoredSlice | undefined {
  const [metadata, spec] = isJsonObject(object) ? [object["metadata"], object["spec"]] : [];
  if (!isJsonObject(metadata) || !isJsonObject(spec)) return undefined;
  if (spec["driver"] !== driverName || spec["nodeName"] !== node) return undefined;
  const { name, resourceVersion, annotations, ownerReferences } = metadata;
  if (typeof name !== "string" || typeof resourceVersion !== "string") return undefined;
  const pool = spec["pool"];
  const generation = isJsonObject(pool) ? pool["generation"] : undefined;
  const checksum = isJsonObject(annotations) ? annotations[checksumAnnotation] : undefined;
  return {
    name,
    resourceVersion,
    generation: typeof generation === "number" ? generation : 0,
    checksum: typeof checksum === "string" ? checksum : "",
    owner: ownerIn(ownerReferences),
    taintTimes: taintTimesOf(spec["devices"]),
  };
}

function ownerIn(references: unknown): string {
  const owner: unknown = Array.isArray(references) ? references[0] : undefined;
  return isJsonObject(owner) && typeof owner["uid"] === "string" ? owner["uid"] : "";
}

/**
 * The changes that make `stored` offer `devices`; none if they do. A change rewrites each slice with the next generation, so that the scheduler
 * never mixes two states of the pool. `checksum`: of the devices. `owner`: the Node, whose removal removes the slices.
 */
export function sliceChanges(
  { node, uid }: { readonly node: string; readonly uid: string | undefined },
  devices: readonly object[],
  checksum: string,
  stored: readonly StoredSlice[],
): readonly SliceChange[] {
  const groups: (readonly object[])[] = [];
  for (let at = 0; at < devices.length; at += maxDevices) groups.push(devices.slice(at, at + maxDevices));
  // An empty pool has no slice: the API server's validation and the scheduler need none.
  const names = groups.map((_, index) => `${node}-plexus-${index}`);
  const isCurrent =
    stored.length === names.length &&
    stored.every(
      ({ name, checksum: sum, generation, owner }) =>
        names.includes(name) &&
        sum === checksum &&
        generation === stored[0]?.generation &&
        // A Node that was made anew has another uid, and the garbage collector removes the slices of the old Node.
        (uid === undefined || owner === uid),
    );
  if (isCurrent) return [];
  const generation = Math.max(0, ...stored.map((each) => each.generation)) + 1;
  const changes: SliceChange[] = [];
  for (const [index, group] of groups.entries()) {
    const name = names[index] ?? "";
    const known = stored.find((each) => each.name === name);
    const object = {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceSlice",
      metadata: {
        name,
        annotations: { [checksumAnnotation]: checksum },
        ...(known === undefined ? {} : { resourceVersion: known.resourceVersion }),
        ...(uid === undefined
          ? {}
          : { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node, uid, controller: true }] }),
      },
      spec: {
        driver: driverName,
        nodeName: node,
        pool: { name: node, generation, resourceSliceCount: groups.length },
        devices: group,
      },
    };
    changes.push(known === undefined ? { kind: "create", object } : { kind: "replace", name, object });
  }
  for (const { name } of stored) if (!names.includes(name)) changes.push({ kind: "remove", name });
  return changes;
}
