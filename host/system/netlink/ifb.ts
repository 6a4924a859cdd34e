// Intermediate functional block devices (`ifb`): messages that make one, mark it, and list those that exist.

import { attribute, Attributes, nested, u32Attribute, type NetlinkRequest } from "./message.ts";
import { macText, concat, cString, i32At } from "./bytes.ts";
import {
  IFF_UP,
  IFINFOMSG,
  IFLA_ADDRESS,
  IFLA_EXT_MASK,
  IFLA_IFNAME,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  IFLA_MTU,
  IFLA_TXQLEN,
  ifinfomsg,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  RTEXT_FILTER_SKIP_STATS,
  RTM_GETLINK,
  RTM_NEWLINK,
  RTM_SETLINK,
} from "./link-attributes.ts";

/** The description of a link, of 255 bytes at most. ip(8) prints it as `alias`. */
const IFLA_IFALIAS = 20;
const kind = nested(IFLA_LINKINFO, [attribute(IFLA_INFO_KIND, cString("ifb"))]);

/** An `ifb`, and the description that marks its owner; empty without one. */
export interface Ifb {
  readonly index: number;
  readonly name: string;
  readonly mac: string;
  readonly description: string;
}

/** Makes an `ifb` that is up. An existing link of the name stays (EEXIST). */
export function newIfb(link: { readonly name: string; readonly mtu: number; readonly txQueueLength: number }): NetlinkRequest {
  const attributes = [
    attribute(IFLA_IFNAME, cString(link.name)),
    u32Attribute(IFLA_MTU, link.mtu),
    u32Attribute(IFLA_TXQLEN, link.txQueueLength),
    kind,
  ];
  return { type: RTM_NEWLINK, flags: NLM_F_CREATE | NLM_F_EXCL, body: concat([ifinfomsg(0, IFF_UP, IFF_UP), ...attributes]) };
}

/** Gives a link a description. */
export function descriptionChange(index: number, text: string): NetlinkRequest {
  return { type: RTM_SETLINK, flags: 0, body: concat([ifinfomsg(index), attribute(IFLA_IFALIAS, cString(text))]) };
}

/** Requests all links of this kind. A kernel without this filter answers with all links. */
export const ifbsRequest: NetlinkRequest = {
  type: RTM_GETLINK,
  flags: NLM_F_DUMP,
  body: concat([ifinfomsg(), u32Attribute(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS), kind]),
};

/** The `ifb` in a message; undefined for a message of another type, and for a link of another kind. */
export function ifbIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): Ifb | undefined {
  if (type !== RTM_NEWLINK || body.length < IFINFOMSG) return undefined;
  const attributes = new Attributes(body, IFINFOMSG);
  if (attributes.within(IFLA_LINKINFO).text(IFLA_INFO_KIND) !== "ifb") return undefined;
  return {
    index: i32At(body, 4),
    name: attributes.text(IFLA_IFNAME),
    mac: macText(attributes.get(IFLA_ADDRESS)),
    description: attributes.text(IFLA_IFALIAS),
  };
}
