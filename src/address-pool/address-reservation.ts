// AddressReservation: one static address of a pool for one owner, which outlives pods. Creating the object is the lock. Blocks leave static
// addresses out, so an address never is in a block and in a reservation.

import { describeJson, isJsonObject } from "../json/document.ts";
import { formatAddress, type IpAddress } from "../net/ip.ts";
import { isPoolName, poolBounds } from "./address-pool.ts";
import { type ObjectMetadata, poolApiVersion, problem, readIp, readParts, readText, type Reading } from "./object-reading.ts";

/** The kinds of owners. The address stays reserved until the owner is gone. */
export const reservationOwners = ["Pod", "IPAMClaim", "StatefulSet", "VirtualMachine"] as const;

/** The owner of a reservation. */
export interface ReservationOwner {
  readonly kind: (typeof reservationOwners)[number];
  readonly namespace: string;
  readonly name: string;
  /** Undefined: the owner counts by its name, as a StatefulSet's pod that comes again. */
  readonly uid: string | undefined;
}

/** A pod that has the address now. Two pods have it for a moment during a live migration. */
export interface ReservationHolder {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
}

/** The content of a reservation, which never changes. */
export interface ReservationClaim {
  readonly pool: string;
  readonly address: IpAddress;
  readonly owner: ReservationOwner;
}

/** An AddressReservation. */
export interface AddressReservation extends ObjectMetadata, ReservationClaim {
  readonly holders: readonly ReservationHolder[];
}

/** The path of the collection. */
export const addressReservationsPath = `/apis/${poolApiVersion}/addressreservations`;

/** The name of a reservation's object: one name for each address. */
export function reservationName(pool: string, address: IpAddress): string {
  const text = formatAddress(address);
  // A label of a Kubernetes name has no colon, and begins and ends with a letter or digit.
  return `${pool}.${address.family === 4 ? text : `x${text.replaceAll(":", "-")}x`}`;
}

/** The object to create for a reservation. */
export function addressReservationObject({ pool, address, owner }: ReservationClaim): Readonly<Record<string, unknown>> {
  const { kind, namespace, name, uid } = owner;
  return {
    apiVersion: poolApiVersion,
    kind: "AddressReservation",
    metadata: { name: reservationName(pool, address) },
    spec: { pool, address: formatAddress(address), owner: { kind, namespace, name, ...(uid === undefined ? {} : { uid }) } },
  };
}

/** Reads an AddressReservation. */
export function readAddressReservation(object: unknown): Reading<AddressReservation> {
  const parts = readParts(object);
  if (!parts.ok) return parts;
  const { metadata, spec, status } = parts.value;
  const pool = readText(spec["pool"], "spec.pool", poolBounds.nameLength);
  if (!pool.ok) return pool;
  if (!isPoolName(pool.value)) return problem("spec.pool is not a pool's name");
  const address = readIp(spec["address"], "spec.address");
  if (!address.ok) return address;
  const name = reservationName(pool.value, address.value);
  if (metadata.name !== name) return problem(`metadata.name is not ${name}`);
  const owner = readOwner(spec["owner"]);
  if (!owner.ok) return owner;
  const { holders = [] } = status;
  return {
    ok: true,
    value: {
      ...metadata,
      pool: pool.value,
      address: address.value,
      owner: owner.value,
      holders: Array.isArray(holders) ? holders.flatMap(readHolder) : [],
    },
  };
}

function readOwner(value: unknown): Reading<ReservationOwner> {
  if (!isJsonObject(value)) return problem(`spec.owner is ${describeJson(value)}`);
  const kind = reservationOwners.find((each) => each === value["kind"]);
  if (kind === undefined) return problem(`spec.owner.kind must be one of ${reservationOwners.join(", ")}`);
  const namespace = readText(value["namespace"], "spec.owner.namespace");
  if (!namespace.ok) return namespace;
  const name = readText(value["name"], "spec.owner.name");
  if (!name.ok) return name;
  const { uid } = value;
  if (uid !== undefined && (typeof uid !== "string" || uid === "")) return problem(`spec.owner.uid is ${describeJson(uid)}`);
  return { ok: true, value: { kind, namespace: namespace.value, name: name.value, uid } };
}

function readHolder(value: unknown): readonly ReservationHolder[] {
  const { node, namespace, pod, podUid } = isJsonObject(value) ? value : {};
  if (typeof node !== "string" || typeof namespace !== "string" || typeof pod !== "string" || typeof podUid !== "string")
    return [];
  return [{ node, namespace, pod, podUid }];
}
