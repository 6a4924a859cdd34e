// The stored parts of the objects that the pools' part watches.

import { type AddressBlock, readAddressBlock } from "../rules/address-block.ts";
import { type AddressPool, readAddressPool } from "../rules/address-pool.ts";
import { type AddressReservation, readAddressReservation } from "../rules/address-reservation.ts";
import { type ObjectMetadata, type Reading, readParts } from "../../../src/kube/object-parts.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { type Condition, readConditions } from "../../../src/kube/conditions.ts";
import type { StoredObject } from "../../../host/cluster/kube/object-store.ts";

/** A pool of the API, with the members that only the controller reads. */
export interface StoredPool {
  readonly metadata: ObjectMetadata;
  /** metadata.creationTimestamp. */
  readonly created: string;
  readonly pool: Reading<AddressPool>;
  readonly conditions: readonly Condition[];
  /** The status as it was received. */
  readonly status: unknown;
}

/** Reads a pool, also one whose specification is invalid; undefined without usable metadata. */
export function storedPool(object: unknown): StoredObject<StoredPool> | undefined {
  const parts = readParts(object);
  if (!parts.ok) return undefined;
  const { metadata, status } = parts.value;
  const created = isJsonObject(object) && isJsonObject(object["metadata"]) ? object["metadata"]["creationTimestamp"] : undefined;
  const value: StoredPool = {
    metadata,
    created: typeof created === "string" ? created : "",
    pool: readAddressPool(object),
    conditions: readConditions(status["conditions"]),
    status,
  };
  return { namespace: "", name: metadata.name, value, size: JSON.stringify(object).length };
}

/** Reads a block. A malformed block stays untouched: no node uses it, and its number cannot be claimed. */
export function storedBlock(object: unknown): StoredObject<AddressBlock> | undefined {
  const read = readAddressBlock(object);
  return read.ok ? { namespace: "", name: read.value.name, value: read.value, size: 400 } : undefined;
}

/** Reads a reservation. An unreadable one stays untouched. */
export function storedReservation(object: unknown): StoredObject<AddressReservation> | undefined {
  const read = readAddressReservation(object);
  return read.ok ? { namespace: "", name: read.value.name, value: read.value, size: 800 } : undefined;
}

/** An object whose existence alone matters. */
export interface Existing {
  readonly uid: string;
}

/** Reads an object's name and uid. */
export function storedExistence(object: unknown): StoredObject<Existing> | undefined {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  const { namespace = "", name, uid } = isJsonObject(metadata) ? metadata : {};
  if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") return undefined;
  return { namespace, name, value: { uid }, size: 0 };
}
