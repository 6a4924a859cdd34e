// Moves of a link into the effect's second network namespace, which the shim opened.

import { attribute, u32Attribute, type NetlinkRequest } from "./message.ts";
import { concat, cString } from "./bytes.ts";
import { SECOND_NAMESPACE } from "./exchange.ts";
import { IFLA_IFALIAS, IFLA_IFNAME, IFLA_NET_NS_FD, ifinfomsg, RTM_SETLINK } from "./link-attributes.ts";

/** The longest `ifalias` in bytes (IFALIASZ without its NUL). */
export const maxAliasBytes = 255;

/**
 * Moves a link into the second namespace, where it has the name and is down. One message does both: the link's old name may be taken there. The index
 * may change.
 */
export function linkMove(index: number, name: string): NetlinkRequest {
  const namespace = u32Attribute(IFLA_NET_NS_FD, SECOND_NAMESPACE);
  return { type: RTM_SETLINK, flags: 0, body: concat([ifinfomsg(index), namespace, attribute(IFLA_IFNAME, cString(name))]) };
}

/** Sets the link's `ifalias`; the empty text removes it. */
export function linkAlias(index: number, alias: string): NetlinkRequest {
  const text = new TextEncoder().encode(alias).subarray(0, maxAliasBytes);
  return { type: RTM_SETLINK, flags: 0, body: concat([ifinfomsg(index), attribute(IFLA_IFALIAS, text)]) };
}
