// Reads the attachment's interface and its addresses from the kernel, in one NETLINK effect.

import { formatAddress } from "../../../src/net/ip.ts";
import { EAGAIN } from "../../system/errno.ts";
import { addressesRequest, addressStateIn, type AddressState } from "../../system/netlink/address.ts";
import { Attributes, decodeAnswers, encodeRequests } from "../../system/netlink/message.ts";
import { AF_INET6, macBytes, u32At, i32At } from "../../system/netlink/bytes.ts";
import { deadlineMs, type NetlinkSender } from "../../system/netlink/exchange.ts";
import { IFINFOMSG, IFLA_AF_SPEC } from "../../system/netlink/link-attributes.ts";
import { linkRequest } from "../../system/netlink/link-change.ts";
import { linkStateIn } from "../../system/netlink/link-state.ts";

/** The attachment's interface in the pod's network namespace. */
export interface PodLink {
  readonly index: number;
  /** Undefined if the interface has no neighbours to inform: no Ethernet address, or IFF_NOARP. */
  readonly mac: Uint8Array | undefined;
  /** Whether the interface is administratively up. */
  readonly up: boolean;
  /** Whether the interface carries packets. */
  readonly running: boolean;
  /** Whether the interface forwards IPv6. */
  readonly router: boolean;
  /** The state of each address, by its text without prefix length. */
  readonly addresses: ReadonlyMap<string, AddressState>;
}

/** A failure to read the interface. */
export interface LinkUnreadable {
  readonly errno: number;
  /** The kernel's text for the error; empty for none. */
  readonly errorText: string;
  /** Whether the shim had entered the namespace. */
  readonly entered: boolean;
}

const IFF_NOARP = 0x80;
const IFLA_INET6_CONF = 2;
/** The index of `forwarding` in the array of an interface's IPv6 settings. */
const FORWARDING = 0;

/** Reads the interface `ifname`, a name or an index, in the namespace `netns`. EAGAIN if the interface changed meanwhile; the caller tries again. */
export async function readPodLink(
  shim: NetlinkSender,
  netns: string,
  ifname: string | number,
): Promise<PodLink | LinkUnreadable> {
  const request = encodeRequests([linkRequest(ifname), addressesRequest(0)]);
  const { errno, sent, reply } = await shim.netlink({ path: netns, request, deadlineMs });
  if (errno !== 0) return { errno, errorText: "", entered: sent };
  const [links, addresses] = decodeAnswers(reply, 2);
  for (const answer of [links, addresses])
    if (answer !== undefined && answer.errno !== 0) return { errno: answer.errno, errorText: answer.errorText, entered: true };
  const message = links?.messages[0];
  const link = message === undefined ? undefined : linkStateIn(message);
  // An interrupted dump (NLM_F_DUMP_INTR) may lack addresses.
  if (message === undefined || link === undefined || addresses === undefined || addresses.interrupted)
    return { errno: EAGAIN, errorText: "", entered: true };
  const podAddresses = addresses.messages
    .flatMap((each) => addressStateIn(each) ?? [])
    .filter((each) => each.link === link.index);
  const hasNeighbours = (u32At(message.body, 8) & IFF_NOARP) === 0;
  return {
    index: link.index,
    mac: hasNeighbours ? macBytes(link.mac) : undefined,
    up: link.up,
    running: link.running,
    router: forwards(message.body),
    addresses: new Map(podAddresses.map((each) => [formatAddress(each.cidr.address), each])),
  };
}

function forwards(body: Uint8Array): boolean {
  const settings = new Attributes(body, IFINFOMSG).within(IFLA_AF_SPEC).within(AF_INET6).get(IFLA_INET6_CONF);
  return settings !== undefined && i32At(settings, FORWARDING) > 0;
}
