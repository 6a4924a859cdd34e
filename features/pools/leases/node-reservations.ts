// The reservations of one node's pods, in a daemon. A reservation names its holder before the lease is written; after the lease is gone the holder is taken
// out in the background, so that DEL needs no API.

import { type AddressReservation, maxHolders, type ReservationHolder } from "../rules/address-reservation.ts";
import { staticSpans } from "../rules/pool-usage.ts";
import { hasAddress } from "../rules/spans.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type Family, formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import { earlierAddress, freeAddress } from "./choose-static-address.ts";
import { keepHolders, makeReservation } from "./make-reservation.ts";
import type { NodeBlocks } from "./node-blocks.ts";
import { type HeldLease, OrderlyHolders } from "./orderly-holders.ts";
import { type Asker, askerOf, instanceOf, isOwner, noteInClaim, type Terms } from "./reservation-asker.ts";
import type { StaticAddresses, StaticRequest } from "./static-addresses.ts";

/** Addresses that other nodes may reserve first before a call gives up. */
const maxConflicts = 32;
/** Milliseconds from a released lease to the search for holders without a lease. */
const releasedMs = 20;

/** Prefix of the names that KubeVirt gives to pods with a virtual machine. */
const launcherPrefix = "virt-launcher-";
/** Owners whose address two pods hold during a live migration. */
const migratingOwners: ReadonlySet<string> = new Set(["IPAMClaim", "VirtualMachineInstance"]);

/** The reservations. */
export class NodeReservations implements StaticAddresses {
  readonly #blocks: NodeBlocks;
  /** Addresses that are being reserved: their leases are not written yet. By `POOL ADDRESS`, with the number of calls. */
  readonly #pending = new Map<string, number>();
  /** The last change of each pool's holders on this node. Changes run one after the other, so that a search does not take a new holder for an old one. */
  readonly #last = new Map<string, Promise<unknown>>();
  /** Whether this node may hold reservations of a pool; unknown before the first search. */
  readonly #mayHold = new Map<string, boolean>();
  readonly #due = new Set<string>();
  readonly #orderly: OrderlyHolders;
  /** Holders that this process has begun to write. A list that began before the last of them may lack it. */
  #writes = 0;

  constructor(blocks: NodeBlocks) {
    this.#blocks = blocks;
    this.#orderly = new OrderlyHolders(blocks.init.directory);
  }

  isStatic(pool: string, address: IpAddress): boolean {
    const known = this.#blocks.knownPool(pool);
    return known !== undefined && hasAddress(staticSpans(known), address);
  }

  keepsInstanceAddresses(pool: string): boolean {
    return this.#blocks.knownPool(pool)?.keepsInstanceAddresses === true;
  }

  noteFromBlock(request: StaticRequest, address: IpAddress): void {
    // Asking the API for each pod would make each ADD of the pool depend on it.
    if (!request.pod.startsWith(launcherPrefix)) return;
    const warn = (error: unknown): void => this.#blocks.init.warn(`pools: ${String(error)}`);
    setTimeout(() => void this.#warnOfMigration(request, address).catch(warn), 0).unref();
  }

  async next(request: StaticRequest, family: Family): Promise<Result<IpAddress | undefined>> {
    return this.#exclusive(request.pool, async () => {
      const terms = await this.#terms(request.pool);
      if (!terms.ok) return terms;
      const asker = await askerOf(terms.value, request);
      if (!asker.ok || asker.value.owner.kind === "Pod") return asker.ok ? ok(undefined) : asker;
      const reserved = await this.#reserve(terms.value, asker.value, request, family);
      if (!reserved.ok) return reserved;
      const noted = await noteInClaim(terms.value, asker.value, reserved.value);
      if (noted.ok) return reserved;
      this.settled(request.pool, reserved.value);
      return noted;
    });
  }

  async take(request: StaticRequest, address: IpAddress): Promise<Result<boolean>> {
    return this.#exclusive(request.pool, async () => {
      const terms = await this.#terms(request.pool);
      if (!terms.ok) return terms;
      const asker = await askerOf(terms.value, request);
      if (!asker.ok) return asker;
      const listed = await terms.value.api.ofPool(request.pool);
      if (!listed.ok) return listed;
      const existing = listed.value.find((each) => formatAddress(each.address) === formatAddress(address));
      if (existing !== undefined && !isOwner(existing.owner, asker.value.owner)) return ok(false);
      this.#begin(request.pool, address);
      const made =
        existing === undefined
          ? await makeReservation(this.#blocks, terms.value, asker.value, address)
          : await this.#join(terms.value, existing, asker.value.holder);
      if (!made.ok || !made.value) this.settled(request.pool, address);
      return made;
    });
  }

  settled(pool: string, address: IpAddress): void {
    const key = keyOf(pool, address);
    const calls = (this.#pending.get(key) ?? 1) - 1;
    if (calls > 0) this.#pending.set(key, calls);
    else this.#pending.delete(key);
  }

  /**
   * Call after a release of leases, or if an earlier process may have left holders: looks at the pool's holders soon, unless the node has none. If the look
   * fails, the rounds repeat it.
   */
  noteReleased(pool: string): void {
    if (!this.#mayHold.has(pool)) this.#mayHold.set(pool, true);
    if (this.#mayHold.get(pool) === false || this.#due.has(pool)) return;
    this.#due.add(pool);
    const look = async (): Promise<void> => {
      this.#due.delete(pool);
      const done = await this.round(pool);
      if (!done.ok) this.#blocks.init.warn(`pools: ${done.fault.msg}`);
    };
    setTimeout(
      () => void look().catch((error: unknown) => this.#blocks.init.warn(`pools: ${String(error)}`)),
      releasedMs,
    ).unref();
  }

  /** Takes holders of this node without a lease out of each pool that was used, unless the last look found all in order and their leases are still there. */
  async roundOfAll(): Promise<void> {
    for (const [pool, mayHold] of this.#mayHold) {
      const isDue = mayHold && !this.#orderly.has(pool, this.#blocks.init.now().monotonicMs);
      const done = isDue ? await this.round(pool) : ok(undefined);
      if (!done.ok) this.#blocks.init.warn(`pools: ${done.fault.msg}`);
    }
  }

  /** Takes holders of this node without a lease out of the pool's reservations. */
  async round(pool: string): Promise<Result<void>> {
    // A pool that is being deleted goes when its reservations are gone, so its holders are taken out, too.
    const claimant = await this.#blocks.claimant();
    if (!claimant.ok) return claimant;
    const { node } = claimant.value;
    const api = claimant.value.api.reservations;
    this.#orderly.forget(pool);
    const writes = this.#writes;
    const listed = await api.ofPool(pool);
    if (!listed.ok) return listed;
    const own = listed.value.filter(({ holders }) => holders.some((holder) => holder.node === node));
    if (!this.#isPending(pool)) this.#mayHold.set(pool, own.length > 0);
    const leases: (HeldLease | undefined)[] = [];
    for (const reservation of own) {
      const done = await this.#exclusive(pool, () => this.#dropGone({ api, node }, reservation));
      if (!done.ok) return done;
      leases.push(done.value);
    }
    const inOrder = leases.filter((each) => each !== undefined);
    if (inOrder.length === own.length && writes === this.#writes)
      this.#orderly.note(pool, inOrder, this.#blocks.init.now().monotonicMs);
    return ok(undefined);
  }

  /** The lease of this node's holder if the reservation is in order; undefined if a later look is due. */
  async #dropGone(
    { api, node }: Pick<Terms, "api" | "node">,
    reservation: AddressReservation,
  ): Promise<Result<HeldLease | undefined>> {
    const { pool, address, holders } = reservation;
    if (this.#pending.has(keyOf(pool, address))) return ok(undefined);
    const lease = this.#blocks.init.directory.containerOf(pool, formatAddress(address));
    if (!lease.ok) return lease;
    const container = lease.value;
    const isHolder = (holder: ReservationHolder): boolean => holder.node === node && holder.containerId === container;
    // A lease of a container that is not named as a holder: the pod's new sandbox was named while the old one still has the address.
    if (container !== undefined && !holders.some(isHolder)) return ok(undefined);
    const kept = holders.filter((holder) => holder.node !== node || isHolder(holder));
    if (kept.length === holders.length)
      return ok(container === undefined ? undefined : { address: formatAddress(address), containerId: container });
    // A change since the list makes the request fail, and the next look finds what is left.
    const done = await keepHolders(api, reservation, kept);
    return done.ok ? ok(undefined) : done;
  }

  async #reserve(terms: Terms, asker: Asker, { pool }: StaticRequest, family: Family): Promise<Result<IpAddress>> {
    const { owner, holder, claim } = asker;
    const spans = staticSpans(terms.pool).filter((span) => span.family === family);
    if (spans.length === 0) {
      const why = `AddressPool ${pool} has no static IPv${family} address, from which ${owner.kind} ${owner.namespace}/${owner.name} gets its own: append a range with static`;
      return failed(fault("CONFIG_INVALID", why));
    }
    for (let conflicts = 0; conflicts <= maxConflicts; conflicts++) {
      const listed = await terms.api.ofPool(pool);
      if (!listed.ok) return listed;
      const mine = listed.value.find((each) => each.address.family === family && isOwner(each.owner, owner));
      if (mine !== undefined) {
        this.#begin(pool, mine.address);
        const joined = await this.#join(terms, mine, holder);
        if (joined.ok && joined.value) return ok(mine.address);
        this.settled(pool, mine.address);
        return joined.ok ? failed(stillHeld(mine)) : joined;
      }
      const taken = new Set(listed.value.map(({ address }) => formatAddress(address)));
      const address =
        earlierAddress(claim, spans, taken) ?? freeAddress(spans, taken, `${owner.uid}/${owner.pod ?? ""}/${owner.ifname}`);
      if (address === undefined) {
        return failed(
          fault("POOL_FULL", `every static IPv${family} address of AddressPool ${pool} is reserved; append a range with static`),
        );
      }
      this.#begin(pool, address);
      const made = await makeReservation(this.#blocks, terms, asker, address);
      if (made.ok && made.value) return ok(address);
      this.settled(pool, address);
      if (!made.ok) return made;
    }
    return failed(fault("POOL_UNAVAILABLE", `other nodes took ${maxConflicts} static addresses of AddressPool ${pool} first`));
  }

  /** Adds the holder. False: another pod has the address, and the two are no live migration. */
  async #join({ api, node }: Terms, reservation: AddressReservation, holder: ReservationHolder): Promise<Result<boolean>> {
    const { pool, address, owner, holders } = reservation;
    const lease = this.#blocks.init.directory.containerOf(pool, formatAddress(address));
    if (!lease.ok) return lease;
    // A new sandbox of the pod replaces the old one, and a holder of this node without a lease is gone.
    const others = holders.filter(
      (each) => each.podUid !== holder.podUid && (each.node !== node || each.containerId === lease.value),
    );
    const isMigration =
      migratingOwners.has(owner.kind) &&
      holder.instance !== undefined &&
      others.length < maxHolders &&
      others.every(({ instance }) => instance === holder.instance);
    if (others.length > 0 && !isMigration) return ok(false);
    const written = await api.setHolders(reservation, [...others, holder]);
    return written.ok ? ok(true) : written;
  }

  /** Creates an Event on a pod whose VirtualMachineInstance takes an address of a block along in a live migration. */
  async #warnOfMigration({ pool, namespace, pod: name }: StaticRequest, address: IpAddress): Promise<void> {
    const terms = await this.#terms(pool);
    const pod = terms.ok ? await terms.value.api.pod(namespace, name) : terms;
    if (!pod.ok || !terms.ok) return;
    const instance = instanceOf(pod.value);
    if (instance === undefined) return;
    const message =
      `VirtualMachineInstance ${namespace}/${instance.name} has ${formatAddress(address)} of a block of AddressPool ${pool}. The guest keeps it in a live ` +
      "migration, but this pod's DEL frees it for another pod. To do: set spec.keepInstanceAddresses of the pool, or use an IPAMClaim";
    this.#blocks.init.warn(`pools: ${message}`);
    const target = { kind: "Pod", eventNamespace: namespace, name, uid: pod.value.uid };
    this.#blocks.init.event(target, { reason: "AddressNotKept", message, type: "Warning" });
  }

  #begin(pool: string, address: IpAddress): void {
    const key = keyOf(pool, address);
    this.#pending.set(key, (this.#pending.get(key) ?? 0) + 1);
    this.#mayHold.set(pool, true);
    this.#writes++;
    this.#orderly.forget(pool);
  }

  #isPending(pool: string): boolean {
    return [...this.#pending.keys()].some((key) => key.startsWith(`${pool} `));
  }

  #exclusive<T>(pool: string, work: () => Promise<T>): Promise<T> {
    const run = (this.#last.get(pool) ?? Promise.resolve()).then(work);
    this.#last.set(
      pool,
      run.catch(() => undefined),
    );
    return run;
  }

  async #terms(name: string): Promise<Result<Terms>> {
    const pool = await this.#blocks.pool(name);
    if (!pool.ok) return pool;
    if (pool.value.isDeleted) return failed(fault("POOL_UNAVAILABLE", `AddressPool ${name} is being deleted`));
    const claimant = await this.#blocks.claimant();
    return claimant.ok ? ok({ pool: pool.value, node: claimant.value.node, api: claimant.value.api.reservations }) : claimant;
  }
}

function stillHeld({ address, holders }: AddressReservation): ReturnType<typeof fault> {
  const pods = holders.map(({ pod, node }) => `pod ${pod} on node ${node}`).join(" and ");
  return fault("POOL_UNAVAILABLE", `${formatAddress(address)} is still held by ${pods}; it is free when that pod's DEL is done`);
}

function keyOf(pool: string, address: IpAddress): string {
  return `${pool} ${formatAddress(address)}`;
}
