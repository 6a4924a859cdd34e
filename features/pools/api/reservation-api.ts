// AddressReservations of the Kubernetes API, their owners and their pods, for a node's daemon: one attempt for each request.

import {
  type AddressReservation,
  addressReservationObject,
  addressReservationsPath,
  holdersPatch,
  readAddressReservation,
  type ReservationClaim,
  type ReservationHolder,
} from "../rules/address-reservation.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { ApiObject, ApiObjects } from "../../../host/cluster/kube/api-objects.ts";

/** The owner of a pod that controls it. */
export interface PodController {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** The parts of a pod on which its reservation depends. */
export interface ReservingPod {
  readonly uid: string;
  readonly controller: PodController | undefined;
}

/** An IPAMClaim. */
export interface IpamClaim {
  readonly uid: string;
  readonly isDeleted: boolean;
  readonly network: string;
  readonly ifname: string;
  readonly ips: readonly string[];
}

/** The requests. Fault: POOL_UNAVAILABLE. */
export class ReservationApi {
  readonly #objects: ApiObjects;

  constructor(objects: ApiObjects) {
    this.#objects = objects;
  }

  /** All reservations of a pool, as the API's store has them now. An unreadable one is a fault: its address would seem free. */
  async ofPool(pool: string): Promise<Result<readonly AddressReservation[]>> {
    const listed = await this.#objects.list(addressReservationsPath, { fieldSelector: `spec.pool=${pool}` });
    if (listed.kind !== "list") return failed(fault("POOL_UNAVAILABLE", `AddressReservations cannot be listed: ${listed.why}`));
    const reservations: AddressReservation[] = [];
    for (const item of listed.items) {
      const read = readAddressReservation(item);
      if (!read.ok) return failed(fault("POOL_UNAVAILABLE", `an AddressReservation of AddressPool ${pool}: ${read.problem}`));
      reservations.push(read.value);
    }
    return ok(reservations);
  }

  /** Reserves an address by creating its object. Undefined: the address is reserved already. */
  async create(claim: ReservationClaim, holder: ReservationHolder): Promise<Result<AddressReservation | undefined>> {
    const made = await this.#objects.create(addressReservationsPath, addressReservationObject(claim, [holder]));
    if (made.kind === "conflict") return ok(undefined);
    if (made.kind !== "object") return failed(fault("POOL_UNAVAILABLE", `no address is reserved: ${made.why}`));
    const read = readAddressReservation(made.object);
    return read.ok ? ok(read.value) : failed(fault("POOL_UNAVAILABLE", `the created AddressReservation: ${read.problem}`));
  }

  /** Replaces the holders, unless the reservation has changed. */
  async setHolders(reservation: AddressReservation, holders: readonly ReservationHolder[]): Promise<Result<void>> {
    const path = `${addressReservationsPath}/${reservation.name}`;
    const written = await this.#objects.patch(path, holdersPatch(reservation, holders));
    if (written.kind === "object") return ok(undefined);
    return failed(fault("POOL_UNAVAILABLE", `AddressReservation ${reservation.name} cannot be changed: ${written.why}`));
  }

  /** Deletes a reservation, unless it has changed. */
  async remove({ name, uid, resourceVersion }: AddressReservation): Promise<Result<void>> {
    const removed = await this.#objects.remove(`${addressReservationsPath}/${name}`, { uid, resourceVersion });
    if (removed.kind === "object" || removed.kind === "absent") return ok(undefined);
    return failed(fault("POOL_UNAVAILABLE", `AddressReservation ${name} cannot be deleted: ${removed.why}`));
  }

  /** A pod. */
  async pod(namespace: string, name: string): Promise<Result<ReservingPod>> {
    const what = `pod ${namespace}/${name}`;
    const found = await this.#object(`/api/v1/namespaces/${namespace}/pods/${name}`, what);
    if (!found.ok) return found;
    const { uid, ownerReferences } = metadataOf(found.value);
    if (typeof uid !== "string") return failed(fault("POOL_UNAVAILABLE", `${what} has no uid`));
    const owners: readonly unknown[] = Array.isArray(ownerReferences) ? ownerReferences : [];
    return ok({ uid, controller: owners.flatMap(controllerOf).at(0) });
  }

  /** An IPAMClaim. */
  async claim(namespace: string, name: string): Promise<Result<IpamClaim>> {
    const what = `IPAMClaim ${namespace}/${name}`;
    const found = await this.#object(claimPath(namespace, name), what);
    if (!found.ok) return found;
    const { uid, deletionTimestamp } = metadataOf(found.value);
    const { spec, status } = found.value;
    const { network, interface: ifname } = isJsonObject(spec) ? spec : {};
    const ips = isJsonObject(status) ? status["ips"] : undefined;
    if (typeof uid !== "string" || typeof network !== "string" || typeof ifname !== "string") {
      return failed(fault("POOL_UNAVAILABLE", `${what} lacks a uid, spec.network or spec.interface`));
    }
    const texts = Array.isArray(ips) ? ips.filter((each) => typeof each === "string") : [];
    return ok({ uid, isDeleted: deletionTimestamp !== undefined, network, ifname, ips: texts });
  }

  /** Writes the addresses of a claim into its status. */
  async setClaimIps(namespace: string, name: string, uid: string, ips: readonly string[]): Promise<Result<void>> {
    const written = await this.#objects.patch(`${claimPath(namespace, name)}/status`, { metadata: { uid }, status: { ips } });
    if (written.kind === "object") return ok(undefined);
    return failed(fault("POOL_UNAVAILABLE", `the status of IPAMClaim ${namespace}/${name} cannot be written: ${written.why}`));
  }

  async #object(path: string, what: string): Promise<Result<ApiObject>> {
    const found = await this.#objects.get(path);
    if (found.kind === "object") return ok(found.object);
    const why = found.kind === "absent" ? `does not exist (${found.why})` : `cannot be read: ${found.why}`;
    return failed(fault("POOL_UNAVAILABLE", `${what} ${why}`));
  }
}

function claimPath(namespace: string, name: string): string {
  return `/apis/k8s.cni.cncf.io/v1alpha1/namespaces/${namespace}/ipamclaims/${name}`;
}

function metadataOf(object: ApiObject): Readonly<Record<string, unknown>> {
  return isJsonObject(object["metadata"]) ? object["metadata"] : {};
}

function controllerOf(reference: unknown): readonly PodController[] {
  const { apiVersion, kind, name, uid, controller } = isJsonObject(reference) ? reference : {};
  if (controller !== true || typeof apiVersion !== "string" || typeof kind !== "string") return [];
  return typeof name === "string" && typeof uid === "string" ? [{ apiVersion, kind, name, uid }] : [];
}
