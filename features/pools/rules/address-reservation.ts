// AddressReservation: one static address of a pool for one owner, which outlives pods. Creating the object is the lock. Blocks leave static
// addresses out, so an address never is in a block and in a reservation.

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import { isPoolName } from "../../../src/configuration/pool-name.ts";
import { poolBounds } from "./address-pool.ts";
import { type ObjectMetadata, problem, readParts, type Reading } from "../../../src/kube/object-parts.ts";
import { poolApiVersion, readIp, readText } from "./object-reading.ts";

/** The kinds of owners. The address stays reserved until the owner is gone. A StatefulSet owns one address for each of its pods by name. */
export const reservationOwners = ["Pod", "IPAMClaim", "StatefulSet", "VirtualMachineInstance"] as const;

/** The owner of a reservation. */
export interface ReservationOwner {
  readonly kind: (typeof reservationOwners)[number];
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** For a StatefulSet: the name of the pod that keeps the address. */
  readonly pod: string | undefined;
  /** The pod's interface with the address. */
  readonly ifname: string;
}

/** A pod that has the address now, of the owner's namespace. */
export interface ReservationHolder {
  readonly node: string;
  readonly pod: string;
  readonly podUid: string;
  readonly containerId: string;
  /** The uid of the pod's VirtualMachineInstance, if it has one. Two pods of one instance have the address during a live migration. */
  readonly instance: string | undefined;
}

/** The content of a reservation that never changes. */
export interface ReservationClaim {
  readonly pool: string;
  readonly address: IpAddress;
  readonly owner: ReservationOwner;
}

/** An AddressReservation. */
export interface AddressReservation extends ObjectMetadata, ReservationClaim {
  readonly holders: readonly ReservationHolder[];
}

/** Maximum number of holders. */
export const maxHolders = 2;

/** The path of the collection. */
export const addressReservationsPath = `/apis/${poolApiVersion}/addressreservations`;

/** The name of a reservation's object: one name for each address. */
export function reservationName(pool: string, address: IpAddress): string {
  const text = formatAddress(address);
  // A label of a Kubernetes name has no colon, and begins and ends with a letter or digit.
  return `${pool}.${address.family === 4 ? text : `x${text.replaceAll(":", "-")}x`}`;
}

/** The object to create for a reservation. */
export function addressReservationObject(
  { pool, address, owner }: ReservationClaim,
  holders: readonly ReservationHolder[],
): Readonly<Record<string, unknown>> {
  const { kind, namespace, name, uid, pod, ifname } = owner;
  return {
    apiVersion: poolApiVersion,
    kind: "AddressReservation",
    metadata: { name: reservationName(pool, address) },
    spec: {
      pool,
      address: formatAddress(address),
      owner: { kind, namespace, name, uid, ...(pod === undefined ? {} : { pod }), interface: ifname },
      holders: holders.map(holderObject),
    },
  };
}

/** The merge patch that replaces the holders, unless the reservation has changed. */
export function holdersPatch(
  { resourceVersion, uid }: ObjectMetadata,
  holders: readonly ReservationHolder[],
): Readonly<Record<string, unknown>> {
  return { metadata: { resourceVersion, uid }, spec: { holders: holders.map(holderObject) } };
}

/** Reads an AddressReservation. */
export function readAddressReservation(object: unknown): Reading<AddressReservation> {
  const parts = readParts(object);
  if (!parts.ok) return parts;
  const { metadata, spec } = parts.value;
  const pool = readText(spec["pool"], "spec.pool", poolBounds.nameLength);
  if (!pool.ok) return pool;
  if (!isPoolName(pool.value)) return problem("spec.pool is not a pool's name");
  const address = readIp(spec["address"], "spec.address");
  if (!address.ok) return address;
  const name = reservationName(pool.value, address.value);
  if (metadata.name !== name) return problem(`metadata.name is not ${name}`);
  const owner = readOwner(spec["owner"]);
  if (!owner.ok) return owner;
  const holders = readHolders(spec["holders"]);
  if (!holders.ok) return holders;
  const claim = { pool: pool.value, address: address.value, owner: owner.value };
  return { ok: true, value: { ...metadata, ...claim, holders: holders.value } };
}

function readOwner(value: unknown): Reading<ReservationOwner> {
  if (!isJsonObject(value)) return problem(`spec.owner is ${describeJson(value)}`);
  const kind = reservationOwners.find((each) => each === value["kind"]);
  if (kind === undefined) return problem(`spec.owner.kind must be one of ${reservationOwners.join(", ")}`);
  const namespace = readText(value["namespace"], "spec.owner.namespace", 63);
  if (!namespace.ok) return namespace;
  const name = readText(value["name"], "spec.owner.name");
  if (!name.ok) return name;
  const uid = readText(value["uid"], "spec.owner.uid", 128);
  if (!uid.ok) return uid;
  const ifname = readText(value["interface"], "spec.owner.interface", 15);
  if (!ifname.ok) return ifname;
  const pod = value["pod"] === undefined ? undefined : readText(value["pod"], "spec.owner.pod");
  if (pod?.ok === false) return pod;
  if ((kind === "StatefulSet") !== (pod !== undefined)) return problem("spec.owner.pod is for a StatefulSet, which needs it");
  const owner = { kind, namespace: namespace.value, name: name.value, uid: uid.value };
  return { ok: true, value: { ...owner, ifname: ifname.value, pod: pod?.value } };
}

/** A holder that cannot be read makes the whole object unreadable: without it the address would seem free. */
function readHolders(value: unknown): Reading<readonly ReservationHolder[]> {
  if (value === undefined) return { ok: true, value: [] };
  if (!Array.isArray(value)) return problem(`spec.holders is ${describeJson(value)}`);
  if (value.length > maxHolders) return problem(`spec.holders has ${value.length} entries; at most ${maxHolders} are allowed`);
  const holders: ReservationHolder[] = [];
  for (const [index, each] of value.entries()) {
    const holder = readHolder(each, `spec.holders[${index}]`);
    if (!holder.ok) return holder;
    holders.push(holder.value);
  }
  return { ok: true, value: holders };
}

function readHolder(value: unknown, place: string): Reading<ReservationHolder> {
  if (!isJsonObject(value)) return problem(`${place} is ${describeJson(value)}`);
  const node = readText(value["node"], `${place}.node`);
  if (!node.ok) return node;
  const pod = readText(value["pod"], `${place}.pod`);
  if (!pod.ok) return pod;
  const podUid = readText(value["podUid"], `${place}.podUid`, 128);
  if (!podUid.ok) return podUid;
  const containerId = readText(value["containerId"], `${place}.containerId`, 128);
  if (!containerId.ok) return containerId;
  const instance = value["instance"] === undefined ? undefined : readText(value["instance"], `${place}.instance`, 128);
  if (instance?.ok === false) return instance;
  const holder = { node: node.value, pod: pod.value, podUid: podUid.value, containerId: containerId.value };
  return { ok: true, value: { ...holder, instance: instance?.value } };
}

function holderObject({ instance, ...holder }: ReservationHolder): Readonly<Record<string, string>> {
  return instance === undefined ? holder : { ...holder, instance };
}
