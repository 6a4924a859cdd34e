// Binds the capability `dhcp` to one call: one lease for the attachment's interface, which the daemon renews. Any other request is refused here, before a
// packet is sent.

import type { Verb } from "../../../src/cni/environment.ts";
import type { LeaseHolder, LeaseRecord } from "../../../src/dhcp/lease-record.ts";
import { type DhcpOption, OPTION } from "../../../src/dhcp/message.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import type { AttachmentId, DhcpLease, DhcpRequest } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { PacketEffects } from "../../protocol/shim.ts";
import { shortHash } from "../../system/ids.ts";
import type { Clock } from "../../system/clock.ts";
import { systemError } from "../../system/system-error.ts";
import { readPodLink } from "../announce/pod-link.ts";
import { misuseOf, type WitOutcome, witOutcome } from "../outcome.ts";
import { type Acknowledged, acquireLease, type DhcpLink, releaseLease } from "./client.ts";
import { leaseLink } from "./lease-link.ts";
import type { LeaseRecords } from "./lease-records.ts";
import { requestMistake } from "./requests.ts";

/** The call that the capability is bound to. */
export interface DhcpScope {
  readonly network: string;
  readonly verb: Verb;
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
  /** Path of the pod's network namespace; empty if the namespace is gone. */
  readonly netns: string;
  /** The node's leases; undefined if a runtime calls a component directly. */
  readonly records: LeaseRecords | undefined;
  /** Whether a daemon serves this call, and renews its lease. */
  readonly isRenewed: boolean;
}

/** The capability's functions. */
export interface DhcpImports {
  readonly acquire: (request: DhcpRequest) => Promise<WitOutcome<DhcpLease>>;
  readonly held: () => WitOutcome<DhcpLease | undefined>;
  readonly release: () => Promise<WitOutcome<undefined>>;
  readonly retain: (valid: readonly AttachmentId[]) => Promise<WitOutcome<number>>;
  readonly probe: () => WitOutcome<undefined>;
}

const misused = misuseOf("dhcp");
/** A veth runs within 1.5 ms; a macvlan or a device may need autonegotiation. */
const maxWaitMs = 5000;
const pauseMs = 20;
/** RFC 3442: a route of the link itself has the router 0.0.0.0. RT_SCOPE_LINK. */
const scopeLink = 253;
/** An option has 255 bytes at most. */
const maxIdBytes = 254;

/** The capability for the delegate of one call. */
export function dhcpFor(scope: DhcpScope, shim: PacketEffects, clock: Clock): DhcpImports {
  const { verb, network, attachment, records } = scope;
  const holder: LeaseHolder | undefined = attachment && { network, ...attachment };
  return {
    acquire: async (request) => witOutcome(await acquire(scope, request, shim, clock)),
    held: () => {
      const lease = holder === undefined ? undefined : records?.find(holder);
      return { ok: lease === undefined || lease.hasEnded ? undefined : witLease(lease) };
    },
    release: async () => {
      if (holder === undefined || (verb !== "ADD" && verb !== "DEL"))
        return witOutcome(failed(misused(`only ADD and DEL may release a lease, this call is ${verb}`)));
      return witOutcome(await giveBack(records, records?.find(holder), scope.netns, shim));
    },
    retain: async (valid) => witOutcome(await retain(scope, valid, shim)),
    probe: () => witOutcome(scope.isRenewed && records !== undefined ? ok(undefined) : failed(unrenewed("NOT_AVAILABLE"))),
  };
}

async function acquire(scope: DhcpScope, request: DhcpRequest, shim: PacketEffects, clock: Clock): Promise<Result<DhcpLease>> {
  const { network, verb, attachment, netns, records, isRenewed } = scope;
  if (verb !== "ADD" || attachment === undefined) return failed(misused(`only an ADD may get a lease, this call is ${verb}`));
  const mistake = requestMistake(request);
  if (mistake !== undefined) return failed(misused(mistake));
  if (records === undefined || !isRenewed) return failed(unrenewed("DHCP_FAILED"));
  const holder: LeaseHolder = { network, ...attachment };
  // A repeated ADD without a DEL goes on with the lease of the first, as the reference's daemon does. A lease that has run out while no daemon ran may be another client's.
  const before = records.find(holder);
  const dayMs = clock.date().getTime();
  const isHeld = before !== undefined && !before.hasEnded && dayMs < before.acknowledgedMs + before.terms.leaseSeconds * 1000;
  if (isHeld && before.netns === netns) return ok(witLease(before));
  const link = await runningLink(netns, attachment.ifname, shim, clock);
  if (!link.ok) return link;
  const provided = request.provided.map(({ number, value }) => ({ number, value: Uint8Array.from(value) }));
  const clientId = provided.find(({ number }) => number === OPTION.clientId)?.value ?? defaultClientId(holder);
  const identity = { clientId, requested: request.requested, provided };
  const acquired = await acquireLease(link.value, identity, request.milliseconds, shim, clock.now);
  if (!acquired.ok) return acquired;
  const lease = recordOf(
    { ...holder, netns, index: link.value.index, mac: link.value.mac, ...identity },
    acquired.value,
    clock.date(),
  );
  const kept = records.keep(lease);
  if (kept.ok) return ok(witLease(lease));
  // Without its record the lease would not be renewed.
  await releaseLease(link.value, clientId, addressOf(lease), shim);
  return kept;
}

/** The lease as it is kept. */
export function recordOf(
  who: Omit<LeaseRecord, "terms" | "options" | "serverMac" | "acknowledgedMs" | "hasEnded">,
  { terms, options, serverMac }: Acknowledged,
  at: Date,
): LeaseRecord {
  const answered = who.requested.flatMap((number): readonly DhcpOption[] => {
    const value = options.get(number);
    return value === undefined ? [] : [{ number, value }];
  });
  return { ...who, terms, serverMac, options: answered, acknowledgedMs: at.getTime(), hasEnded: false };
}

/** The part of a lease that a renewal and a release name. */
export function addressOf({ terms, serverMac }: LeaseRecord): {
  readonly address: string;
  readonly server: string;
  readonly serverMac: Uint8Array;
} {
  return { address: terms.address, server: terms.server, serverMac };
}

/** Releases a lease, if its interface still exists in `netns`, and forgets it. */
async function giveBack(
  records: LeaseRecords | undefined,
  lease: LeaseRecord | undefined,
  netns: string,
  shim: PacketEffects,
): Promise<Result<undefined>> {
  if (records === undefined || lease === undefined) return ok(undefined);
  if (netns !== "" && !lease.hasEnded) {
    const found = await leaseLink(shim, netns, lease);
    // Packets of an interface with another hardware address would not be the lease's.
    if (found !== undefined && "link" in found && found.hasMac)
      await releaseLease({ netns, index: found.link.index, mac: lease.mac }, lease.clientId, addressOf(lease), shim);
  }
  const forgotten = records.forget(lease);
  return forgotten.ok ? ok(undefined) : forgotten;
}

async function retain(
  { verb, network, records }: DhcpScope,
  valid: readonly AttachmentId[],
  shim: PacketEffects,
): Promise<Result<number>> {
  if (verb !== "GC") return failed(misused(`only a GC may retain leases, this call is ${verb}`));
  const kept = new Set(valid.map(({ containerId, ifname }) => `${containerId} ${ifname}`));
  const stale = (records?.all(network) ?? []).filter(({ containerId, ifname }) => !kept.has(`${containerId} ${ifname}`));
  for (const lease of stale) {
    const released = await giveBack(records, lease, lease.netns, shim);
    if (!released.ok) return released;
  }
  return ok(stale.length);
}

/** The interface, once it carries packets. */
async function runningLink(netns: string, ifname: string, shim: PacketEffects, clock: Clock): Promise<Result<DhcpLink>> {
  const due = clock.now() + maxWaitMs;
  for (;;) {
    const link = await readPodLink(shim, netns, ifname);
    const where = `interface ${quote(ifname)} in the pod's network namespace ${quote(netns)}`;
    if (!("index" in link)) return failed(fault("NETLINK_FAILED", `dhcp: ${where}: ${systemError(link.errno)}`));
    const { index, mac, running } = link;
    if (mac === undefined) return failed(misused(`${where} has no Ethernet address, so no DHCP server knows it`));
    if (running) return ok({ netns, index, mac });
    if (clock.now() >= due) return failed(fault("DHCP_FAILED", `dhcp: ${where} is not running after ${maxWaitMs} ms`));
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

/**
 * As the reference plugin's: type 0, and at most 254 bytes of text. Where the reference cuts a longer text, two interfaces of a pod would be one client to the
 * server, and get one address: the text ends with its hash.
 */
export function defaultClientId({ containerId, network, ifname }: LeaseHolder): Uint8Array {
  const text = `${containerId}/${network}/${ifname}`;
  const bytes = Buffer.from(text);
  const end = bytes.length <= maxIdBytes ? Buffer.alloc(0) : Buffer.from(`/${shortHash(text)}`);
  return Uint8Array.of(0, ...bytes.subarray(0, maxIdBytes - end.length), ...end);
}

function witLease({ terms, options }: LeaseRecord): DhcpLease {
  const { address, prefix, gateway, routes, nameservers, domain, mtu } = terms;
  return {
    address: `${address}/${prefix}`,
    gateway,
    routes: routes.map(({ dst, gateway: gw }) => (gw === "0.0.0.0" ? { dst, scope: scopeLink } : { dst, gw })),
    dns: { nameservers: [...nameservers], domain, search: [], options: [] },
    mtu,
    options: options.map(({ number, value }) => ({ number, value: [...value] })),
  };
}

function unrenewed(kind: "NOT_AVAILABLE" | "DHCP_FAILED"): ReturnType<typeof fault> {
  return fault(kind, "dhcp: no daemon serves this call, so a lease would not be renewed; run plexusd on this node");
}
