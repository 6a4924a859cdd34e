// The election of the leader among the replicas of plexus-controller, by a Lease. Two replicas that both believe in their lease do no harm: each
// write of the controller's parts is guarded by the object's resourceVersion.

import type { ApiObjects } from "../../cluster/kube/api-objects.ts";
import {
  judgeLease,
  type LeaseContent,
  leaseObject,
  readLease,
  releasedLease,
  renewedLease,
  type StoredLease,
} from "../../../src/kube/lease.ts";
import type { Clock } from "../../system/clock.ts";
import { pause } from "../../system/pause.ts";

/** Settings of an election. */
export interface ElectorInit {
  readonly objects: Pick<ApiObjects, "get" | "create" | "replace">;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** This replica, unique among all processes that ever ran. */
  readonly identity: string;
  /** Seconds without a renewal after which another replica may lead. */
  readonly leaseSeconds: number;
  /** Called when the replica begins (true) and ends (false) to lead. */
  readonly onChange: (leads: boolean) => void;
  /** Called after each request for the lease, with the reason if the API did not answer. */
  readonly onLook: (problem: string | undefined) => void;
  /** Warnings for the administrator; the same warning comes once. */
  readonly warn: (text: string) => void;
}

/** The share of the lease's duration after which a leader that could not renew stops, before others may begin. */
const renewDeadlineShare = 2 / 3;
/** The share of the lease's duration between two requests. */
const pauseShare = 2 / 15;

/** Conflicts in a row, without another leader, from which on they count as a failure. */
const tolerableConflicts = 5;

/** Takes part in the election of one Lease. */
export class Elector {
  readonly #init: ElectorInit;
  readonly #collection: string;
  readonly #path: string;
  /** The last seen holder and renewal, and since when they are unchanged, in ms of the monotonic clock. */
  #seen: { readonly mark: string; readonly seenAt: number } = { mark: "", seenAt: 0 };
  #lastWarning = "";
  /** Conflicts in a row without another leader. */
  #conflicts = 0;
  /** Whether the last read of the lease found another leader. */
  #heldByOther = false;

  constructor(init: ElectorInit) {
    this.#init = init;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${init.namespace}/leases`;
    this.#path = `${this.#collection}/${init.name}`;
  }

  /**
   * Waits for the lease, then calls `lead` with a signal that is aborted when the lease is lost; again and again until `signal` is aborted. On
   * the way out the lease is given back. Never throws, unless `lead` does.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const askedAt = this.#init.clock.now();
      if (await this.#take()) await this.#lead(lead, signal, askedAt);
      else await this.#pause(signal);
    }
  }

  /** `beganAt`: the time before the request that took the lease. */
  async #lead(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal, beganAt: number): Promise<void> {
    const { leaseSeconds, onChange } = this.#init;
    const ended = new AbortController();
    onChange(true);
    const leading = lead(AbortSignal.any([ended.signal, signal])).finally(() => ended.abort());
    let renewedAt = beganAt;
    let renewing: Promise<boolean> | undefined;
    while (!signal.aborted && !ended.signal.aborted) {
      await this.#pause(AbortSignal.any([ended.signal, signal]));
      if (signal.aborted || ended.signal.aborted) break;
      const startedAt = this.#init.clock.now();
      // A slow answer must not keep the replica leading beyond the time when another one may begin.
      const leftMs = renewedAt + leaseSeconds * 1000 * renewDeadlineShare - startedAt;
      renewing = this.#take();
      const renewed = await within(renewing, leftMs);
      if (renewed === true) renewedAt = startedAt;
      else if (renewed === undefined || this.#init.clock.now() - startedAt > leftMs || this.#heldByOther) ended.abort();
    }
    ended.abort();
    onChange(false);
    await Promise.all([leading, renewing]);
    if (signal.aborted) await this.#release();
  }

  /** Takes or renews the lease; false if another replica has it or the API does not answer. */
  async #take(): Promise<boolean> {
    const { objects, identity, leaseSeconds } = this.#init;
    const read = await objects.get(this.#path);
    if (read.kind !== "object" && read.kind !== "absent") return this.#failed(read.why);
    this.#init.onLook(undefined);
    const lease = read.kind === "object" ? readLease(read.object) : undefined;
    if (read.kind === "object" && lease === undefined) return this.#failed("the API's answer is not a Lease");
    this.#heldByOther = lease !== undefined && judgeLease(lease, identity, this.#unchangedMs(lease)) === "held";
    if (this.#heldByOther) {
      this.#conflicts = 0;
      return false;
    }
    const next = renewedLease(lease, { identity, durationSeconds: leaseSeconds, now: this.#init.clock.date().toISOString() });
    return this.#write(next, lease?.resourceVersion);
  }

  async #write(content: LeaseContent, resourceVersion: string | undefined): Promise<boolean> {
    const object = leaseObject(this.#init, content, resourceVersion);
    const { objects } = this.#init;
    const written = await (resourceVersion === undefined
      ? objects.create(this.#collection, object)
      : objects.replace(this.#path, object));
    if (written.kind === "object") {
      this.#lastWarning = "";
      this.#conflicts = 0;
      return true;
    }
    // Another replica was faster. The next read of the lease tells whether it leads. Conflicts without a leader are a fault of the API.
    this.#conflicts = written.kind === "conflict" ? this.#conflicts + 1 : 0;
    return written.kind === "conflict" && this.#conflicts < tolerableConflicts ? false : this.#failed(written.why);
  }

  async #release(): Promise<void> {
    const read = await this.#init.objects.get(this.#path);
    const lease = read.kind === "object" ? readLease(read.object) : undefined;
    if (lease?.holder !== this.#init.identity) return;
    await this.#write(releasedLease(lease, this.#init.clock.date().toISOString()), lease.resourceVersion);
  }

  #unchangedMs({ holder, renewTime }: StoredLease): number {
    const mark = `${holder} ${renewTime}`;
    const now = this.#init.clock.now();
    if (this.#seen.mark !== mark) this.#seen = { mark, seenAt: now };
    return now - this.#seen.seenAt;
  }

  #failed(why: string): false {
    const { namespace, name, warn, onLook } = this.#init;
    onLook(why);
    if (this.#lastWarning !== why) warn(`the Lease ${namespace}/${name} cannot be read or written: ${why}`);
    this.#lastWarning = why;
    return false;
  }

  /** A jittered pause, so that replicas do not ask at the same time. */
  #pause(signal: AbortSignal): Promise<void> {
    const ms = this.#init.leaseSeconds * 1000 * pauseShare * (0.8 + Math.random() * 0.2);
    return pause(ms, signal);
  }
}

/** The promise's value; undefined if it takes longer than `ms`. */
function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), Math.max(0, ms));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
