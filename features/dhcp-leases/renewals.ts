// Renews the DHCP leases of the node's attachments, through the agent. The records on the disk are all that counts, so a daemon goes on where another ended.

import { deadlineMs, type NetlinkSender } from "../../host/system/netlink/exchange.ts";
import type { LeaseRecord } from "../../src/dhcp/lease-record.ts";
import { inertLine } from "../../src/text/inert-text.ts";
import { renewLease } from "../../host/capabilities/dhcp/client.ts";
import { leaseLink } from "../../host/capabilities/dhcp/lease-link.ts";
import { LeaseRecords } from "../../host/capabilities/dhcp/lease-records.ts";
import { isGone } from "../../host/capabilities/links/namespaces.ts";
import { addressOf, recordOf } from "../../host/capabilities/dhcp/scope.ts";
import { type PacketEffects, ShimGone } from "../../host/protocol/shim.ts";
import type { Clock } from "../../host/system/clock.ts";
import { linkChange } from "../../host/system/netlink/link-change.ts";
import { encodeRequests } from "../../host/system/netlink/message.ts";
import { leaseNeed } from "./rules.ts";

/** Milliseconds for a server's answer to one try. */
const answerMs = 4000;
/** Milliseconds between two looks at the records: the shortest lease, of 10 s, is renewed after 5 s. */
const pauseMs = 3000;
/** A lease that was tried within this time in ms ends without a further try: tries are a minute apart at most. */
const maxApartMs = 70_000;
const maxLine = 1024;
/** Leases that are renewed at once. */
const maxAtOnce = 16;

/** The renewals of one daemon. */
export class Renewals {
  /** The effects of the agent that is connected now; undefined: none is. */
  readonly #shim: () => PacketEffects | undefined;
  readonly #clock: Clock;
  readonly #log: (level: "info" | "warn", text: string) => void;
  readonly #count: (outcome: "renewed" | "failed" | "ended") => void;
  readonly #records: readonly LeaseRecords[];
  /** The last try of a lease and the earliest next one, by its holder, in ms of the monotonic clock: a clock that is set back must not keep leases from renewals. */
  readonly #tries = new Map<string, { readonly lastAt: number; readonly nextAt: number }>();
  /** Records that a full disk did not take, by holder, each with the record on the disk. They count as written, so that no server is asked again at once. */
  readonly #unwritten = new Map<string, { readonly onDisk: LeaseRecord; readonly lease: LeaseRecord }>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #hasStopped = false;
  #lacksAgent = false;

  /** `directories`: the state directories (`cniDir`) with leases. */
  constructor(
    directories: readonly string[],
    shim: () => PacketEffects | undefined,
    clock: Clock,
    log: (level: "info" | "warn", text: string) => void,
    count: (outcome: "renewed" | "failed" | "ended") => void,
  ) {
    this.#shim = shim;
    this.#clock = clock;
    this.#log = log;
    this.#count = count;
    this.#records = directories.map((directory) => new LeaseRecords(directory));
  }

  /** Begins to renew. */
  start(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.round().finally(() => {
        if (!this.#hasStopped) this.start();
      });
    }, pauseMs);
    this.#timer.unref();
  }

  /** Begins nothing more, and waits for the round that is under way. */
  async stop(): Promise<void> {
    this.#hasStopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  /** Renews the leases that need it now. */
  async round(): Promise<void> {
    const nowMs = this.#clock.date().getTime();
    const held = this.#records.flatMap((records) =>
      records.all().map((onDisk) => ({ records, lease: this.#latest(records, onDisk) })),
    );
    this.#forgetOthers(new Set(held.map(({ lease }) => nameOf(lease))));
    // Leases that are over come first: a server that is gone takes 4 s of each other one, and another host may get their addresses meanwhile.
    const rank = ({ lease }: (typeof held)[number]): number => (needsEnd(lease, nowMs) ? 0 : 1);
    const due = held.filter(({ lease }) => this.#isDue(lease, nowMs)).toSorted((one, other) => rank(one) - rank(other));
    const lacksAgent = due.length > 0 && this.#shim() === undefined;
    if (lacksAgent && !this.#lacksAgent) {
      const remedy = "run plexus agent with CAP_NET_RAW and CAP_SYS_ADMIN";
      this.#log("warn", `dhcp: ${due.length} leases are to be renewed, and no agent is connected: ${remedy}`);
    }
    this.#lacksAgent = lacksAgent;
    for (let at = 0; at < due.length && !this.#hasStopped; at += maxAtOnce)
      await Promise.all(due.slice(at, at + maxAtOnce).map(({ records, lease }) => this.#serve(records, lease)));
  }

  /** Forgets leases without a record: a node starts pods for months. */
  #forgetOthers(held: ReadonlySet<string>): void {
    for (const map of [this.#tries, this.#unwritten]) for (const name of map.keys()) if (!held.has(name)) map.delete(name);
  }

  /** The lease of a record, and another try to write it if the record is older. */
  #latest(records: LeaseRecords, onDisk: LeaseRecord): LeaseRecord {
    const name = nameOf(onDisk);
    const unwritten = this.#unwritten.get(name);
    const lease = unwritten !== undefined && isSame(onDisk, unwritten.onDisk) ? unwritten.lease : onDisk;
    if (lease === onDisk || records.keep(lease).ok) this.#unwritten.delete(name);
    return lease;
  }

  /** The record on the disk, if it is the lease's: a DEL may have released the lease meanwhile. */
  #recordOf(records: LeaseRecords, lease: LeaseRecord): LeaseRecord | undefined {
    const onDisk = records.find(lease);
    const known = this.#unwritten.get(nameOf(lease))?.onDisk ?? lease;
    return isSame(onDisk, known) ? onDisk : undefined;
  }

  #write(records: LeaseRecords, onDisk: LeaseRecord, lease: LeaseRecord): void {
    const written = records.keep(lease);
    if (written.ok) this.#unwritten.delete(nameOf(lease));
    else {
      this.#unwritten.set(nameOf(lease), { onDisk, lease });
      this.#warn(lease, written.fault.msg);
    }
  }

  #isDue(lease: LeaseRecord, nowMs: number): boolean {
    if (lease.hasEnded || (this.#tries.get(nameOf(lease))?.nextAt ?? -Infinity) > this.#clock.now()) return false;
    return leaseNeed(lease.terms, lease.acknowledgedMs, nowMs).need !== "nothing";
  }

  async #serve(records: LeaseRecords, lease: LeaseRecord): Promise<void> {
    const shim = this.#shim();
    const nowMs = this.#clock.date().getTime();
    const need = leaseNeed(lease.terms, lease.acknowledgedMs, nowMs);
    if (shim === undefined || need.need === "nothing") return;
    const lastTry = this.#tries.get(nameOf(lease))?.lastAt ?? -Infinity;
    const lastAt = this.#clock.now();
    this.#tries.set(nameOf(lease), { lastAt, nextAt: need.need === "end" ? lastAt : lastAt + need.nextAt - nowMs });
    try {
      const found = await leaseLink(shim, lease.netns, lease);
      if (found === undefined) return;
      if (!("link" in found)) {
        // A pod that is gone has no address. Its DEL or a GC forgets the lease; a lease that has ended needs neither.
        if (isGone({ sent: found.entered, errno: found.errno }) && need.need === "end") records.forget(lease);
        return;
      }
      const isOver = need.need === "end";
      const over = "the lease has ended without a renewal";
      // A server does not know the packets of a changed hardware address: the lease ends, and takes its address along.
      if (!found.hasMac && !isOver) return;
      const pod = { netns: lease.netns, index: found.link.index, mac: lease.mac };
      // Without a recent try the time of day may have been set forward. A server that still has the address for this client says so.
      if (isOver && (!found.hasMac || lastAt - lastTry <= maxApartMs)) return await this.#end(records, lease, pod, shim, over);
      const bounds = { rebinds: need.need !== "renew", milliseconds: answerMs };
      const renewed = await renewLease(pod, lease, addressOf(lease), bounds, shim, this.#clock.now);
      if (renewed.ok) return this.#keep(records, lease, recordOf(lease, renewed.value, new Date(nowMs)));
      if (renewed.lost === true) return await this.#end(records, lease, pod, shim, renewed.fault.msg);
      if (isOver) return await this.#end(records, lease, pod, shim, over);
      this.#count("failed");
      this.#warn(lease, `not renewed yet: ${renewed.fault.msg}`);
    } catch (error) {
      // The next round has another agent.
      if (error instanceof ShimGone) return;
      // A single lease must end neither the round nor the daemon.
      this.#count("failed");
      this.#warn(lease, `not renewed yet: ${String(error)}`);
    }
  }

  /** Keeps the new terms, unless a DEL has released the lease meanwhile. */
  #keep(records: LeaseRecords, before: LeaseRecord, renewed: LeaseRecord): void {
    const onDisk = this.#recordOf(records, before);
    if (onDisk === undefined) return;
    this.#write(records, onDisk, renewed);
    this.#tries.delete(nameOf(before));
    this.#count("renewed");
  }

  /** RFC 2131 section 4.4.5: the host stops all network processing with the address. The interface is brought down, as by the reference plugin's daemon. */
  async #end(
    records: LeaseRecords,
    lease: LeaseRecord,
    { netns, index }: { readonly netns: string; readonly index: number },
    shim: NetlinkSender,
    why: string,
  ): Promise<void> {
    if (this.#recordOf(records, lease) === undefined) return;
    await shim.netlink({
      path: netns,
      request: encodeRequests([linkChange(index, { up: false })]),
      deadlineMs,
    });
    const onDisk = this.#recordOf(records, lease);
    if (onDisk !== undefined) this.#write(records, onDisk, { ...lease, hasEnded: true });
    this.#tries.delete(nameOf(lease));
    this.#count("ended");
    this.#warn(lease, `${why}; the interface was brought down, because another host may get the address`);
  }

  #warn({ network, containerId, ifname, terms }: LeaseRecord, text: string): void {
    const line = `dhcp: ${terms.address} of ${ifname} from ${network} in container ${containerId}: ${text}`;
    this.#log("warn", inertLine(line, maxLine));
  }
}

function nameOf({ network, containerId, ifname }: LeaseRecord): string {
  return `${network}/${containerId}/${ifname}`;
}

function needsEnd({ terms, acknowledgedMs }: LeaseRecord, nowMs: number): boolean {
  return leaseNeed(terms, acknowledgedMs, nowMs).need === "end";
}

/** Whether a record is the same acknowledgement. */
function isSame(now: LeaseRecord | undefined, then: LeaseRecord): boolean {
  return now?.acknowledgedMs === then.acknowledgedMs && now.terms.address === then.terms.address && now.netns === then.netns;
}
