// The collections that the part for pools watches, and the work that a change of each makes due.

import { addressBlocksPath, type AddressBlock } from "../rules/address-block.ts";
import { addressReservationsPath, type AddressReservation } from "../rules/address-reservation.ts";
import { poolApiVersion } from "../rules/object-reading.ts";
import { CollectionGroup } from "../../../host/controller/collection-group.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { Users } from "../../../host/controller/users.ts";
import { WatchedCollection } from "../../../host/controller/watched-collection.ts";
import { keyOf } from "./keys.ts";
import { type Existing, storedBlock, storedExistence, type StoredPool, storedPool, storedReservation } from "./stored.ts";

/** Paths of the collections. */
export const paths = {
  pools: `/apis/${poolApiVersion}/addresspools`,
  blocks: addressBlocksPath,
  reservations: addressReservationsPath,
  nodes: "/api/v1/nodes",
  claims: "/apis/k8s.cni.cncf.io/v1alpha1/ipamclaims",
  statefulSets: "/apis/apps/v1/statefulsets",
} as const;

/** Pause before a pool's status follows its blocks, in ms: many nodes claim blocks at the same time. */
const statusMs = 1_000;

/** The watched objects. `onDue` receives the key of each object whose work is due, after `afterMs`. */
export class PoolCollections {
  readonly watched: CollectionGroup;
  readonly pools: WatchedCollection<StoredPool>;
  readonly blocks: WatchedCollection<AddressBlock>;
  readonly reservations: WatchedCollection<AddressReservation>;
  readonly nodes: WatchedCollection<Existing>;
  /** Owners of reservations. A watch only tells when work is due; each decision reads the API. */
  readonly claims: WatchedCollection<Existing>;
  readonly statefulSets: WatchedCollection<Existing>;
  /** Reservations by owner, so that a change of a StatefulSet finds its own among many. */
  readonly #owned = new Users();
  readonly #onDue: (key: string, afterMs: number) => void;

  constructor(context: PartContext, onDue: (key: string, afterMs: number) => void) {
    this.#onDue = onDue;
    this.pools = new WatchedCollection(context, {
      what: "addresspools",
      path: paths.pools,
      read: storedPool,
      onChange: () => this.#allPoolsDue(),
    });
    this.blocks = new WatchedCollection(context, {
      what: "addressblocks",
      path: paths.blocks,
      read: storedBlock,
      onChange: (_, name) => {
        onDue(keyOf("block", name), 0);
        onDue(keyOf("pool", name.slice(0, name.lastIndexOf("-"))), statusMs);
      },
    });
    this.reservations = new WatchedCollection(context, {
      what: "addressreservations",
      path: paths.reservations,
      read: storedReservation,
      onChange: (_, name) => {
        const owner = this.reservations.get("", name)?.owner;
        this.#owned.set(name, owner === undefined ? [] : [ownerKey(owner)]);
        onDue(keyOf("reservation", name), 0);
        onDue(keyOf("pool", name.slice(0, name.indexOf("."))), statusMs);
      },
    });
    this.nodes = new WatchedCollection(context, {
      what: "nodes",
      path: paths.nodes,
      metadataOnly: true,
      read: storedExistence,
      onChange: (_, name) => this.#nodeChanged(name),
    });
    const owners = (kind: AddressReservation["owner"]["kind"], what: string, path: string): WatchedCollection<Existing> =>
      new WatchedCollection(context, {
        what,
        path,
        metadataOnly: true,
        // Most clusters do not have the kind IPAMClaim.
        absentIsEmpty: true,
        read: storedExistence,
        onChange: (namespace, name) => this.#ownerChanged(kind, namespace, name),
      });
    this.claims = owners("IPAMClaim", "ipamclaims", paths.claims);
    this.statefulSets = owners("StatefulSet", "statefulsets", paths.statefulSets);
    this.watched = new CollectionGroup({
      complete: [this.pools, this.blocks, this.reservations, this.nodes, this.claims, this.statefulSets],
    });
  }

  /** The blocks of a pool as last seen. */
  blocksOf(pool: string): readonly AddressBlock[] {
    return [...this.blocks.all()].flatMap(({ value }) => (value.pool === pool ? [value] : []));
  }

  /** The reservations of a pool as last seen. */
  reservationsOf(pool: string): readonly AddressReservation[] {
    return [...this.reservations.all()].flatMap(({ value }) => (value.pool === pool ? [value] : []));
  }

  /** A pool that is deleted or changed may free ranges that another pool wants. */
  #allPoolsDue(): void {
    for (const { name } of this.pools.all()) this.#onDue(keyOf("pool", name), 0);
  }

  /** A node's heartbeat changes nothing here: only blocks and holders of a node that came or went have work. */
  #nodeChanged(node: string): void {
    const isThere = this.nodes.get("", node) !== undefined;
    for (const { name, value } of this.blocks.all()) {
      if (value.node === node && value.isOrphaned === isThere) this.#onDue(keyOf("block", name), 0);
    }
    if (isThere) return;
    for (const { name, value } of this.reservations.all()) {
      if (value.holders.some((holder) => holder.node === node)) this.#onDue(keyOf("reservation", name), 0);
    }
  }

  #ownerChanged(kind: AddressReservation["owner"]["kind"], namespace: string, name: string): void {
    const collection = kind === "IPAMClaim" ? this.claims : this.statefulSets;
    const uid = collection.get(namespace, name)?.uid;
    for (const reservation of this.#owned.of(ownerKey({ kind, namespace, name }))) {
      if (this.reservations.get("", reservation)?.owner.uid !== uid) this.#onDue(keyOf("reservation", reservation), 0);
    }
  }
}

function ownerKey({ kind, namespace, name }: Pick<AddressReservation["owner"], "kind" | "namespace" | "name">): string {
  return `${kind} ${namespace}/${name}`;
}
