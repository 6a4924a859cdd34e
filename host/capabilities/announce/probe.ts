// Asks neighbours whether they have addresses: ARP probes (RFC 5227) and duplicate address detection (RFC 4862), each in one effect of the shim.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { AskKind } from "../../protocol/messages.ts";
import { packetsIn } from "../../protocol/network-fields.ts";
import type { PacketEffects } from "../../protocol/shim.ts";
import type { AnnounceConflict } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { addressBytes, macText } from "../../system/netlink/bytes.ts";
import { systemError } from "../../system/system-error.ts";
import { claimIn, probePacket } from "./packets.ts";

/** The interface that asks. */
export interface ProbingLink {
  /** Path of the pod's network namespace. */
  readonly netns: string;
  readonly index: number;
  readonly mac: Uint8Array;
}

/** The number of probes for each address, and the wait for answers after each. */
export interface ProbeBounds {
  readonly probes: number;
  readonly milliseconds: number;
}

const maxProbes = 10;
/** Maximum milliseconds of all probes of one call. RFC 5227's own times are 5 to 9 s. */
const maxMilliseconds = 10_000;

/** Why the bounds are refused; undefined: they are valid. */
export function boundsMistake({ probes, milliseconds }: ProbeBounds): string | undefined {
  if (probes < 1 || probes > maxProbes) return `${probes} probes; 1 to ${maxProbes} are possible`;
  const total = probes * milliseconds;
  return milliseconds < 1 || total > maxMilliseconds
    ? `${probes} probes with ${milliseconds} ms after each; the sum must be 1 to ${maxMilliseconds} ms`
    : undefined;
}

/** The addresses that another host has, in the order of `addresses`. Fault NETLINK_FAILED: the shim could not ask. */
export async function probeNeighbours(
  link: ProbingLink,
  addresses: readonly IpAddress[],
  bounds: ProbeBounds,
  shim: PacketEffects,
  clock: () => number,
): Promise<Result<readonly AnnounceConflict[]>> {
  const found = new Map<string, string>();
  for (let probe = 0; probe < bounds.probes; probe++) {
    const rounds = await Promise.all([
      round(link, addresses, 4, bounds, shim, clock, found),
      round(link, addresses, 6, bounds, shim, clock, found),
    ]);
    for (const each of rounds) if (!each.ok) return each;
  }
  return ok(
    [...new Set(addresses.map(formatAddress))].flatMap((address) => {
      const mac = found.get(address);
      return mac === undefined ? [] : [{ address, mac }];
    }),
  );
}

/** One probe for each address of a family whose other host is not known yet. */
async function round(
  { netns, index, mac }: ProbingLink,
  addresses: readonly IpAddress[],
  family: 4 | 6,
  { milliseconds }: ProbeBounds,
  shim: PacketEffects,
  clock: () => number,
  found: Map<string, string>,
): Promise<Result<undefined>> {
  const open = (): readonly IpAddress[] => addresses.filter((each) => each.family === family && !found.has(formatAddress(each)));
  const answers: AskKind = family === 4 ? "arp" : "neighbour";
  const due = clock() + milliseconds;
  let packets = open().map((address) => probePacket(address, mac));
  // An effect ends early with as many answers as addresses. Several of one address leave others open: these are listened for, without a further probe.
  for (let asked = open(), left = milliseconds; asked.length > 0 && left > 0; asked = open(), left = Math.ceil(due - clock())) {
    const keys = asked.map(addressBytes);
    const { errno, reply } = await shim.ask({
      path: netns,
      index,
      answers,
      keys,
      packets,
      deadlineMs: left,
      maxAnswers: keys.length,
    });
    if (errno !== 0) return failed(fault("NETLINK_FAILED", `announce: probing in ${quote(netns)}: ${systemError(errno)}`));
    for (const packet of packetsIn(reply) ?? []) {
      const claim = claimIn(packet);
      // A bridge or a switch may reflect the probe itself.
      if (claim !== undefined && macText(claim.mac) !== macText(mac)) found.set(claim.address, macText(claim.mac));
    }
    packets = [];
  }
  return ok(undefined);
}
