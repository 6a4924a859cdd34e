// Binds the capability `announce` to one call: it announces the attachment's own addresses to neighbours, and asks them whether they have an address.
// Any other request is refused here, before a packet is sent.

import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import type { AnnounceConflict } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { PacketEffects } from "../../protocol/shim.ts";
import { unreachable } from "../../protocol/unreachable.ts";
import { systemError } from "../../system/system-error.ts";
import { misuseOf, type WitOutcome, witOutcome } from "../outcome.ts";
import { type LinkUnreadable, type PodLink, readPodLink } from "./pod-link.ts";
import { announcement } from "./packets.ts";
import { boundsMistake, type ProbeBounds, probeNeighbours } from "./probe.ts";
import { EAGAIN } from "../../system/errno.ts";

/** The call that the capability is bound to. */
export interface AnnounceScope {
  readonly verb: Verb;
  /** Undefined for GC and STATUS. */
  readonly attachment: { readonly ifname: string } | undefined;
  /** Path of the pod's network namespace; empty if the namespace is gone. */
  readonly netns: string;
  /**
   * Maximum milliseconds to wait until the interface carries packets and its addresses are not tentative; default 500. A veth runs within 1.5 ms. Duplicate
   * address detection takes 1 to 2 s; the delegate waits for it when it adds the address.
   */
  readonly maxWaitMs?: number | undefined;
}

/** The capability's functions. */
export interface AnnounceImports {
  readonly send: (addresses: readonly string[]) => Promise<WitOutcome<undefined>>;
  readonly probe: (
    addresses: readonly string[],
    probes: number,
    milliseconds: number,
  ) => Promise<WitOutcome<readonly AnnounceConflict[]>>;
}

/** Maximum number of addresses in one call: the shim sends at most that many packets in one effect. */
const maxAddresses = 64;
/** Milliseconds between looks at the interface. */
const pauses = [0, 1, 2, 5, 10];
const lastPause = 20;

const misused = misuseOf("announce");

/** The capability for the delegate of one call. `clock`: a monotonic clock, in milliseconds. */
export function announceFor(scope: AnnounceScope, shim: PacketEffects, clock: () => number): AnnounceImports {
  return {
    send: async (addresses) => witOutcome(await send(scope, shim, clock, addresses)),
    probe: async (addresses, probes, milliseconds) =>
      witOutcome(await probe(scope, shim, clock, addresses, { probes, milliseconds })),
  };
}

async function send(
  scope: AnnounceScope,
  shim: PacketEffects,
  clock: () => number,
  texts: readonly string[],
): Promise<Result<undefined>> {
  const request = requestOf(scope, "announce", texts);
  if (!request.ok) return request;
  const { addresses } = request.value;
  if (addresses.length === 0) return ok(undefined);
  const link = await readyLink(scope, request.value, shim, clock, (found) =>
    addressRefusal(found, request.value.ifname, addresses),
  );
  if (!link.ok || link.value === undefined) return link.ok ? ok(undefined) : link;
  return announce(shim, scope.netns, link.value, addresses);
}

/** Asks on the interface without the addresses: an interface that has one of them would answer itself, or not be asked at all. */
async function probe(
  scope: AnnounceScope,
  shim: PacketEffects,
  clock: () => number,
  texts: readonly string[],
  bounds: ProbeBounds,
): Promise<Result<readonly AnnounceConflict[]>> {
  const request = requestOf(scope, "probe", texts);
  if (!request.ok) return request;
  const mistake = boundsMistake(bounds);
  if (mistake !== undefined) return failed(misused(mistake));
  const { addresses } = request.value;
  if (addresses.length === 0) return ok([]);
  const link = await readyLink(scope, request.value, shim, clock, () => undefined);
  if (!link.ok) return link;
  if (link.value?.mac === undefined) return ok([]);
  const { index, mac } = link.value;
  return probeNeighbours({ netns: scope.netns, index, mac }, addresses, bounds, shim, clock);
}

/** The request that a function of the capability may serve. */
interface AnnounceRequest {
  readonly ifname: string;
  readonly addresses: readonly IpAddress[];
}

function requestOf({ verb, attachment, netns }: AnnounceScope, what: string, texts: readonly string[]): Result<AnnounceRequest> {
  if (verb !== "ADD" || attachment === undefined)
    return failed(misused(`only an ADD may ${what} addresses, this call is ${verb}`));
  if (texts.length > maxAddresses)
    return failed(misused(`${texts.length} addresses in one call; the maximum is ${maxAddresses}`));
  const addresses: IpAddress[] = [];
  for (const text of texts) {
    const address = readAddress(text);
    if (address === undefined) return failed(misused(`${quote(text)} is not an IP address`));
    addresses.push(address);
  }
  if (netns === "") return failed(unreachable("NETLINK_FAILED", "announce", "", 0));
  return ok({ ifname: attachment.ifname, addresses });
}

/**
 * The interface once it carries packets. Undefined: it is up without a carrier, so no neighbour hears it. `addressesOf`: why its addresses are not
 * ready.
 */
async function readyLink(
  { netns, maxWaitMs = 500 }: AnnounceScope,
  { ifname }: AnnounceRequest,
  shim: NetlinkSender,
  clock: () => number,
  addressesOf: (link: PodLink) => Readiness | undefined,
): Promise<Result<PodLink | undefined>> {
  const due = clock() + maxWaitMs;
  for (let look = 0; ; look++) {
    const readiness = readinessOf(await readPodLink(shim, netns, ifname), ifname, netns, addressesOf);
    if ("link" in readiness) return ok(readiness.link);
    if ("refusal" in readiness) return failed(readiness.refusal);
    // No neighbour hears an interface without carrier. Its peers learn the address when it comes up.
    if (clock() >= due && readiness.lacksCarrier) return ok(undefined);
    const why = `announce: interface ${ifname} ${readiness.notYet} after ${maxWaitMs} ms`;
    if (clock() >= due) return failed(fault("NETLINK_FAILED", why));
    await new Promise((done) => setTimeout(done, Math.min(pauses[look] ?? lastPause, Math.max(0, due - clock()))));
  }
}

/**
 * `link`: ready. `notYet`: not ready, with the reason as the end of a sentence about the interface; `lacksCarrier`: the interface is up
 * without a carrier. `refusal`: never ready.
 */
type Readiness =
  | { readonly link: PodLink }
  | { readonly notYet: string; readonly lacksCarrier: boolean }
  | { readonly refusal: Fault };

/** Whether the interface can be used now. */
function readinessOf(
  link: PodLink | LinkUnreadable,
  ifname: string,
  netns: string,
  addressesOf: (link: PodLink) => Readiness | undefined,
): Readiness {
  if (!("index" in link)) {
    const { errno, errorText, entered } = link;
    if (errno === EAGAIN && entered) return { notYet: "changed during each attempt to read it", lacksCarrier: false };
    if (!entered) return { refusal: unreachable("NETLINK_FAILED", "announce", netns, errno) };
    const reason = `${systemError(errno)}${errorText === "" ? "" : `: ${errorText}`}`;
    return {
      refusal: fault("NETLINK_FAILED", `announce: ${quote(ifname)} in the pod's network namespace ${quote(netns)}: ${reason}`),
    };
  }
  const unready = addressesOf(link);
  if (unready !== undefined) return unready;
  return link.running || link.mac === undefined ? { link } : { notYet: "is not running", lacksCarrier: lacksCarrier(link) };
}

function lacksCarrier({ up, running }: PodLink): boolean {
  return up && !running;
}

/** Why the addresses cannot be announced now; undefined: the interface has all of them for good. */
function addressRefusal(link: PodLink, ifname: string, addresses: readonly IpAddress[]): Readiness | undefined {
  for (const address of addresses) {
    const text = formatAddress(address);
    const state = link.addresses.get(text);
    if (state === undefined)
      return { refusal: misused(`interface ${ifname} does not have address ${text}, so it cannot be announced`) };
    if (state.dadFailed) {
      const why = `another host has address ${text} of ${ifname} (duplicate address detection)`;
      return { refusal: fault("NETLINK_FAILED", `announce: ${why}`) };
    }
    if (state.tentative) return { notYet: `still has ${text} as a tentative address`, lacksCarrier: lacksCarrier(link) };
  }
  return undefined;
}

async function announce(
  shim: PacketEffects,
  netns: string,
  { index, mac, router }: PodLink,
  addresses: readonly IpAddress[],
): Promise<Result<undefined>> {
  // An interface without neighbour resolution needs no announcement.
  if (mac === undefined) return ok(undefined);
  const packets = addresses.map((address) => announcement(address, mac, router));
  const { errno } = await shim.packet({ path: netns, index, packets });
  return errno === 0
    ? ok(undefined)
    : failed(fault("NETLINK_FAILED", `announce: sending packets in ${quote(netns)}: ${systemError(errno)}`));
}
