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
    const held = this.#records.flatMap((records) => records.all().map((lease) => ({ records, lease })));
    this.#forgetTries(new Set(held.map(({ lease }) => nameOf(lease))));
    const due = held.filter(({ lease }) => this.#isDue(lease, nowMs));
    const lacksAgent = due.length > 0 && this.#shim() === undefined;
    if (lacksAgent && !this.#lacksAgent) {
      const remedy = "run plexus agent with CAP_NET_RAW and CAP_SYS_ADMIN";
      this.#log("warn", `dhcp: ${due.length} leases are to be renewed, and no agent is connected: ${remedy}`);
    }
    this.#lacksAgent = lacksAgent;
    for (let at = 0; at < due.length && !this.#hasStopped; at += maxAtOnce)
      await Promise.all(due.slice(at, at + maxAtOnce).map(({ records, lease }) => this.#serve(records, lease)));
  }

  /** Forgets the tries of leases without a record: a node starts pods for months. */
  #forgetTries(held: ReadonlySet<string>): void {
    for (const name of this.#tries.keys()) if (!held.has(name)) this.#tries.delete(name);
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
    if (!isSame(records.find(before), before)) return;
    const kept = records.keep(renewed);
    this.#tries.delete(nameOf(before));
    this.#count("renewed");
    if (!kept.ok) this.#warn(before, kept.fault.msg);
  }

  /** RFC 2131 section 4.4.5: the host stops all network processing with the address. The interface is brought down, as by the reference plugin's daemon. */
  async #end(
    records: LeaseRecords,
    lease: LeaseRecord,
    { netns, index }: { readonly netns: string; readonly index: number },
    shim: NetlinkSender,
    why: string,
  ): Promise<void> {
    if (!isSame(records.find(lease), lease)) return;
    await shim.netlink({
      path: netns,
      request: encodeRequests([linkChange(index, { up: false })]),
      deadlineMs,
      foreign: true,
    });
    if (isSame(records.find(lease), lease)) records.keep({ ...lease, hasEnded: true });
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

/** Whether a record is the same acknowledgement. */
function isSame(now: LeaseRecord | undefined, then: LeaseRecord): boolean {
  return now?.acknowledgedMs === then.acknowledgedMs && now.terms.address === then.terms.address && now.netns === then.netns;
}
