// The attachment's interface as announcing sees it: read from the kernel, with its addresses, in one go.

import { formatAddress } from "../../src/net/ip.ts";
import type { Hands } from "../hands/hands.ts";
import { addressesRequest, addressStateIn, type AddressState } from "../netlink/address.ts";
import { AF_INET6, macBytes } from "../netlink/address-bytes.ts";
import { IFINFOMSG, IFLA_AF_SPEC } from "../netlink/link-attributes.ts";
import { linkRequest } from "../netlink/link-change.ts";
import { linkStateIn } from "../netlink/link-state.ts";
import { Attributes } from "../netlink/attributes.ts";
import { u32At, i32At } from "../netlink/bytes.ts";
import { decodeAnswers, encodeRequests } from "../netlink/message.ts";

export interface OwnLink {
  readonly index: number;
  /** Undefined where there is nobody to tell: no Ethernet address, or a link without neighbours (IFF_NOARP). */
  readonly mac: Uint8Array | undefined;
  /** It carries packets now. */
  readonly running: boolean;
  /** It forwards IPv6. */
  readonly router: boolean;
  /** By the address's text without prefix length. */
  readonly addresses: ReadonlyMap<string, AddressState>;
}

/** `errno` and `words` of what failed; `entered`: in the namespace, not on the way into it. */
export interface Unseen {
  readonly errno: number;
  readonly words: string;
  readonly entered: boolean;
}

const IFF_NOARP = 0x80;
const IFLA_INET6_CONF = 2;
/** Its place among the settings of an interface: the first. */
const FORWARDING = 0;
const EAGAIN = 11;
const deadlineMs = 10_000;

export async function seeOwnLink(hands: Pick<Hands, "netlink">, netns: string, ifname: string): Promise<OwnLink | Unseen> {
  const request = encodeRequests([linkRequest(ifname), addressesRequest(0)]);
  const { errno, sent, reply } = await hands.netlink({ path: netns, request, deadlineMs, foreign: true });
  if (errno !== 0) return { errno, words: "", entered: sent };
  const [told, addresses] = decodeAnswers(reply, 2);
  for (const answer of [told, addresses])
    if (answer !== undefined && answer.errno !== 0) return { errno: answer.errno, words: answer.words, entered: true };
  const message = told?.messages[0];
  const link = message === undefined ? undefined : linkStateIn(message);
  // A dump that others disturb may lack what is asked for: who waits for the link looks again.
  if (message === undefined || link === undefined || addresses === undefined || addresses.interrupted)
    return { errno: EAGAIN, words: "", entered: true };
  const own = addresses.messages.flatMap((each) => addressStateIn(each) ?? []).filter((each) => each.link === link.index);
  const hasNeighbours = (u32At(message.body, 8) & IFF_NOARP) === 0;
  return {
    index: link.index,
    mac: hasNeighbours ? macBytes(link.mac) : undefined,
    running: link.running,
    router: forwards(message.body),
    addresses: new Map(own.map((each) => [formatAddress(each.cidr.address), each])),
  };
}

function forwards(body: Uint8Array): boolean {
  const settings = new Attributes(body, IFINFOMSG).within(IFLA_AF_SPEC).within(AF_INET6).get(IFLA_INET6_CONF);
  return settings !== undefined && i32At(settings, FORWARDING) > 0;
}
