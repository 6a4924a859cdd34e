// Links (network interfaces) of RTM_GETLINK (linux/if_link.h).

import { Attributes, u32Attribute, type NetlinkRequest } from "./message.ts";
import { macText, concat, i32At, u32At } from "./bytes.ts";
import {
  RTM_NEWLINK,
  RTM_GETLINK,
  NLM_F_DUMP,
  IFINFOMSG,
  IFF_UP,
  IFLA_ADDRESS,
  IFLA_IFNAME,
  IFLA_MTU,
  IFLA_LINKINFO,
  IFLA_INFO_KIND,
  IFLA_EXT_MASK,
  RTEXT_FILTER_SKIP_STATS,
  ifinfomsg,
} from "./link-attributes.ts";

/** A link (network interface). */
export interface Link {
  /** The interface index, which routes name. */
  readonly index: number;
  readonly name: string;
  /** Lower case, with colons; empty where the link has no address of its own. */
  readonly mac: string;
  readonly mtu: number;
  /** Whether the link is administratively up, with or without carrier. */
  readonly up: boolean;
  /** The link's kind: `veth`, `bridge`, `vlan`, …; empty for hardware and the loopback. */
  readonly kind: string;
}

/** Requests all links. */
export const linksRequest: NetlinkRequest = {
  type: RTM_GETLINK,
  flags: NLM_F_DUMP,
  body: concat([ifinfomsg(), u32Attribute(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)]),
};

/** The link in a message; undefined for a message of another type. */
export function linkIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): Link | undefined {
  if (type !== RTM_NEWLINK || body.length < IFINFOMSG) return undefined;
  const attributes = new Attributes(body, IFINFOMSG);
  return {
    index: i32At(body, 4),
    name: attributes.text(IFLA_IFNAME),
    mac: macText(attributes.get(IFLA_ADDRESS)),
    mtu: attributes.u32(IFLA_MTU) ?? 0,
    up: (u32At(body, 8) & IFF_UP) !== 0,
    kind: attributes.within(IFLA_LINKINFO).text(IFLA_INFO_KIND),
  };
}
