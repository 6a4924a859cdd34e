// The work on one AddressReservation: holders of nodes that are gone are taken out, and a reservation without holders goes with its owner. Daemons take
// out the holders of their own nodes.

import { isJsonObject } from "../../../src/json/document.ts";
import { type AddressReservation, holdersPatch, type ReservationOwner } from "../rules/address-reservation.ts";
import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import { type PoolCollections, paths } from "./collections.ts";
import { nodePresence } from "./node-presence.ts";
import { poolTarget } from "./pool-events.ts";

const done: WorkOutcome = { kind: "done" };
/**
 * Pause between looks at a pod that is bound to a node that is gone, or at a pod or an instance that owns a reservation without a holder, in ms. Instances
 * are not watched: most clusters do not have their kind.
 */
const podsMs = 30_000;
/** Interval in ms of the search for other owners. A watch tells of their end sooner. */
const ownersMs = 600_000;
/** Kubernetes' names of objects and namespaces, which become parts of paths. */
const objectName = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

/** The work on reservations. */
export class ReservationWork {
  readonly #context: PartContext;
  readonly #collections: PoolCollections;

  constructor(context: PartContext, collections: PoolCollections) {
    this.#context = context;
    this.#collections = collections;
  }

  async workOn(name: string): Promise<WorkOutcome> {
    const reservation = this.#collections.reservations.get("", name);
    if (reservation === undefined || reservation.isDeleted) return done;
    return reservation.holders.length > 0 ? this.#checkHolders(reservation) : this.#checkOwner(reservation);
  }

  /** A node that is gone hands out no reservation: each hand-out asks the API. So no wait is needed, other than with blocks. */
  async #checkHolders(reservation: AddressReservation): Promise<WorkOutcome> {
    const { name, holders } = reservation;
    const gone = new Set<string>();
    let isLooked = false;
    for (const { node } of holders) {
      if (this.#collections.nodes.get("", node) !== undefined) continue;
      const presence = await nodePresence(this.#context.objects, node);
      if (presence.kind === "unknown") return presence.outcome;
      if (!presence.nodeExists && presence.podsBound === 0) gone.add(node);
      isLooked ||= !presence.nodeExists;
    }
    if (gone.size === 0) return isLooked ? { kind: "again", afterMs: podsMs } : done;
    const kept = holders.filter(({ node }) => !gone.has(node));
    return outcomeOf(await this.#context.objects.patch(`${paths.reservations}/${name}`, holdersPatch(reservation, kept)));
  }

  async #checkOwner({ name, uid, resourceVersion, pool, owner }: AddressReservation): Promise<WorkOutcome> {
    const exists = await ownerExists(this.#context.objects, owner);
    if (typeof exists !== "boolean") return exists;
    if (exists) return { kind: "again", afterMs: endsByItself(owner.kind) ? podsMs : ownersMs };
    // A daemon that adds a holder meanwhile changes the resourceVersion.
    const removed = await this.#context.objects.remove(`${paths.reservations}/${name}`, { uid, resourceVersion });
    const poolUid = this.#collections.pools.get("", pool)?.metadata.uid;
    if (removed.kind === "object" && poolUid !== undefined) {
      const message = `reservation ${name} is free: ${owner.kind} ${owner.namespace}/${owner.name} is gone`;
      this.#context.event(poolTarget(pool, poolUid), { reason: "ReservationFreed", message, type: "Normal" });
    }
    return outcomeOf(removed);
  }
}

/** Whether the owner exists, by its uid; a finished pod does not count. An outcome if the API did not answer. */
async function ownerExists(objects: ApiObjects, owner: ReservationOwner): Promise<boolean | WorkOutcome> {
  const { kind, namespace, name, uid } = owner;
  // A name that no object can have: the reservation stays until an administrator looks at it.
  if (!objectName.test(namespace) || !objectName.test(name)) return true;
  const found = await objects.get(pathOf(kind, namespace, name));
  if (found.kind === "absent") return false;
  if (found.kind !== "object") return outcomeOf(found);
  const { metadata, status } = found.object;
  if (!isJsonObject(metadata) || metadata["uid"] !== uid) return false;
  const phase = isJsonObject(status) ? status["phase"] : undefined;
  return !endsByItself(kind) || (phase !== "Succeeded" && phase !== "Failed");
}

/** Whether objects of the kind end by themselves: an ended one does not count. */
function endsByItself(kind: ReservationOwner["kind"]): boolean {
  return kind === "Pod" || kind === "VirtualMachineInstance";
}

function pathOf(kind: ReservationOwner["kind"], namespace: string, name: string): string {
  switch (kind) {
    case "Pod":
      return `/api/v1/namespaces/${namespace}/pods/${name}`;
    case "IPAMClaim":
      return `/apis/k8s.cni.cncf.io/v1alpha1/namespaces/${namespace}/ipamclaims/${name}`;
    case "VirtualMachineInstance":
      return `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/${name}`;
    case "StatefulSet":
      return `/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}`;
    default:
      return kind satisfies never;
  }
}
