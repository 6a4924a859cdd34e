// Reads the objects of a cluster's pools from its API.

import { addressBlocksPath } from "../rules/address-block.ts";
import { addressReservationsPath } from "../rules/address-reservation.ts";
import { poolApiVersion } from "../rules/object-reading.ts";
import { podAddresses, type PodAddress } from "../rules/pod-addresses.ts";
import type { PoolObjects } from "../rules/pool-report.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { CollectionList } from "../../../host/cluster/kube/collection-list.ts";

/** The path of the pools. */
export const poolsPath = `/apis/${poolApiVersion}/addresspools`;

/** A collection may change or expire between two of its pages; then it is listed again, at most this often. */
const maxLists = 3;

/** All objects of a collection; `absent` if the cluster does not have the collection. Fault CLUSTER_UNREADABLE. */
export async function listAll(
  objects: ApiObjects,
  path: string,
  absent?: readonly unknown[],
): Promise<Result<readonly unknown[]>> {
  const listed = await objects.list(path);
  if (listed.kind === "list") return ok(listed.items);
  if (listed.kind === "absent" && absent !== undefined) return ok(absent);
  return failed(fault("CLUSTER_UNREADABLE", `GET ${path}: ${listed.why}`));
}

function url(query: Readonly<Record<string, string>>): string {
  return `/api/v1/pods?${new URLSearchParams(query).toString()}`;
}

/** The addresses of all running pods. Of a pod nothing else is kept: a cluster may have 100,000. Fault CLUSTER_UNREADABLE. */
export async function usedAddresses({ connection, credentials }: ApiObjects): Promise<Result<readonly PodAddress[]>> {
  const list = new CollectionList({ connection, credentials, url, metadataOnly: false, consistent: true });
  for (let attempt = 1; ; attempt++) {
    const used: PodAddress[] = [];
    const listed = await list.all("0", (object) => {
      used.push(...podAddresses(object));
      return true;
    });
    if (listed.kind === "listed") return ok(used);
    if (listed.kind === "relist" && attempt < maxLists) continue;
    const why = listed.kind === "failed" ? listed.why : "the list changed while it was read";
    return failed(fault("CLUSTER_UNREADABLE", `GET /api/v1/pods: ${why}`));
  }
}

/** Everything about pools. Fault CLUSTER_UNREADABLE. */
export async function readPoolObjects(objects: ApiObjects): Promise<Result<PoolObjects>> {
  const pools = await listAll(objects, poolsPath);
  if (!pools.ok) return pools;
  const blocks = await listAll(objects, addressBlocksPath);
  if (!blocks.ok) return blocks;
  const reservations = await listAll(objects, addressReservationsPath);
  if (!reservations.ok) return reservations;
  const used = await usedAddresses(objects);
  if (!used.ok) return used;
  return ok({ pools: pools.value, blocks: blocks.value, reservations: reservations.value, used: used.value });
}
