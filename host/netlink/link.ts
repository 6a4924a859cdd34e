// Links (network interfaces) as RTM_GETLINK tells them (linux/if_link.h).

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
} from "./link-attributes.ts";
import { macText } from "./address-bytes.ts";
import { attributesIn, type NetlinkRequest, textIn, viewOf } from "./message.ts";

export interface Link {
  /** The interface index, which routes name. */
  readonly index: number;
  readonly name: string;
  /** Lower case, with colons; empty where the link has no address of its own. */
  readonly mac: string;
  readonly mtu: number;
  /** Whether it is set up, whatever its carrier. */
  readonly up: boolean;
  /** What made it: `veth`, `bridge`, `vlan`, …; empty for hardware and the loopback. */
  readonly kind: string;
}

/** Asks for all links. */
export const linksRequest: NetlinkRequest = { type: RTM_GETLINK, flags: NLM_F_DUMP, body: new Uint8Array(IFINFOMSG) };

/** A link, or undefined where the message tells something else. */
export function linkIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): Link | undefined {
  if (type !== RTM_NEWLINK || body.length < IFINFOMSG) return undefined;
  const fixed = viewOf(body);
  const attributes = attributesIn(body.subarray(IFINFOMSG));
  const info = attributesIn(attributes.get(IFLA_LINKINFO) ?? new Uint8Array(0));
  return {
    index: fixed.i32(4),
    name: textIn(attributes.get(IFLA_IFNAME)),
    mac: macText(attributes.get(IFLA_ADDRESS)),
    mtu: viewOf(attributes.get(IFLA_MTU) ?? new Uint8Array(0)).u32(0),
    up: (fixed.u32(8) & IFF_UP) !== 0,
    kind: textIn(info.get(IFLA_INFO_KIND)),
  };
}
