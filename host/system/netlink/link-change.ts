// Messages that read, change and remove links. They name a link by its index: another link may have taken its name meanwhile. Changes
// are RTM_SETLINK, which never creates a link.

import { attribute, nested, u32Attribute, type NetlinkRequest } from "./message.ts";
import { macBytes, concat, cString, u16, u8 } from "./bytes.ts";
import {
  IFF_ALLMULTI,
  IFF_PROMISC,
  IFF_UP,
  IFLA_ADDRESS,
  IFLA_AF_SPEC,
  IFLA_ALT_IFNAME,
  IFLA_BR_VLAN_DEFAULT_PVID,
  IFLA_BR_VLAN_FILTERING,
  IFLA_EXT_MASK,
  RTEXT_FILTER_SKIP_STATS,
  IFLA_IFNAME,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  IFLA_MASTER,
  IFLA_MTU,
  IFLA_PROP_LIST,
  IFLA_TXQLEN,
  ifinfomsg,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  RTM_DELLINK,
  RTM_GETLINK,
  RTM_GETNSID,
  RTM_NEWLINK,
  RTM_SETLINK,
} from "./link-attributes.ts";

const RTM_NEWLINKPROP = 108;
const RTM_DELLINKPROP = 109;
const NLM_F_APPEND = 0x800;
const NETNSA_FD = 3;
const IFLA_INET_CONF = 1;
const AF_INET = 2;

/** Changes of a link; absent members stay as they are. */
export interface LinkChange {
  readonly up?: boolean | undefined;
  readonly promiscuous?: boolean | undefined;
  readonly allMulticast?: boolean | undefined;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
  readonly txQueueLength?: number | undefined;
  /** Index; 0: none. */
  readonly master?: number | undefined;
}

/** The length of a link's name in bytes, at most. Alternative names may be longer. */
const maxNameBytes = 15;

/** Requests one link, by its index, its name or an alternative name. */
export function linkRequest(which: string | number): NetlinkRequest {
  const type = typeof which === "string" && which.length > maxNameBytes ? IFLA_ALT_IFNAME : IFLA_IFNAME;
  const name = typeof which === "string" ? [attribute(type, cString(which))] : [];
  const mask = u32Attribute(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return { type: RTM_GETLINK, flags: 0, body: concat([ifinfomsg(typeof which === "number" ? which : 0), mask, ...name]) };
}

/** Requests the ports of a bridge, or the members of a VRF or a bond. A kernel without this filter answers with all links. */
export function portsRequest(master: number): NetlinkRequest {
  return { type: RTM_GETLINK, flags: NLM_F_DUMP, body: concat([ifinfomsg(), u32Attribute(IFLA_MASTER, master)]) };
}

/** Requests the links of a kind. A kernel without this filter answers with all links. */
export function linksOfKindRequest(kind: string): NetlinkRequest {
  const info = nested(IFLA_LINKINFO, [attribute(IFLA_INFO_KIND, cString(kind))]);
  const mask = u32Attribute(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return { type: RTM_GETLINK, flags: NLM_F_DUMP, body: concat([ifinfomsg(), mask, info]) };
}

/** Requests the id by which the namespace knows the effect's second namespace. */
export function namespaceIdRequest(descriptor: number): NetlinkRequest {
  return { type: RTM_GETNSID, flags: 0, body: concat([new Uint8Array(4), u32Attribute(NETNSA_FD, descriptor)]) };
}

/** Changes a link by its index. */
export function linkChange(index: number, change: LinkChange): NetlinkRequest {
  const flags = [
    [change.up, IFF_UP],
    [change.promiscuous, IFF_PROMISC],
    [change.allMulticast, IFF_ALLMULTI],
  ] as const;
  const meant = flags.reduce((all, [wanted, flag]) => (wanted === undefined ? all : all | flag), 0);
  const set = flags.reduce((all, [wanted, flag]) => (wanted === true ? all | flag : all), 0);
  const mac = change.mac === undefined ? undefined : macBytes(change.mac);
  const attributes = [
    ...(mac === undefined ? [] : [attribute(IFLA_ADDRESS, mac)]),
    ...(change.mtu === undefined ? [] : [u32Attribute(IFLA_MTU, change.mtu)]),
    ...(change.txQueueLength === undefined ? [] : [u32Attribute(IFLA_TXQLEN, change.txQueueLength)]),
    ...(change.master === undefined ? [] : [u32Attribute(IFLA_MASTER, change.master)]),
  ];
  return { type: RTM_SETLINK, flags: 0, body: concat([ifinfomsg(index, set, meant), ...attributes]) };
}

/** Renames a link. Kernels before Linux 6.2 rename no link that is up (EBUSY). */
export function linkRename(index: number, name: string): NetlinkRequest {
  return { type: RTM_SETLINK, flags: 0, body: concat([ifinfomsg(index), attribute(IFLA_IFNAME, cString(name))]) };
}

/** Sets numbers of `net.ipv4.conf.<link>`, by IPV4_DEVCONF_*. */
export function inetSettings(index: number, settings: ReadonlyMap<number, number>): NetlinkRequest {
  const all = [...settings].map(([id, value]) => u32Attribute(id, value >>> 0));
  const spec = nested(IFLA_AF_SPEC, [nested(AF_INET, [nested(IFLA_INET_CONF, all)])]);
  return { type: RTM_SETLINK, flags: 0, body: concat([ifinfomsg(index), spec]) };
}

/** Changes an existing bridge: RTM_NEWLINK without CREATE, because RTM_SETLINK does not accept a bridge's settings. */
export function bridgeChange(
  index: number,
  { vlanFiltering, defaultPvid }: { readonly vlanFiltering?: boolean | undefined; readonly defaultPvid?: number | undefined },
): NetlinkRequest {
  const data = [
    ...(vlanFiltering === undefined ? [] : [attribute(IFLA_BR_VLAN_FILTERING, u8(vlanFiltering ? 1 : 0))]),
    ...(defaultPvid === undefined ? [] : [attribute(IFLA_BR_VLAN_DEFAULT_PVID, u16(defaultPvid))]),
  ];
  const info = nested(IFLA_LINKINFO, [attribute(IFLA_INFO_KIND, cString("bridge")), nested(IFLA_INFO_DATA, data)]);
  return { type: RTM_NEWLINK, flags: 0, body: concat([ifinfomsg(index), info]) };
}

/** Adds an alternative name to a link. */
export function nameAddition(index: number, alternativeName: string): NetlinkRequest {
  return { ...names(index, alternativeName), type: RTM_NEWLINKPROP, flags: NLM_F_EXCL | NLM_F_CREATE | NLM_F_APPEND };
}

/** Removes an alternative name from a link. */
export function nameRemoval(index: number, alternativeName: string): NetlinkRequest {
  return { ...names(index, alternativeName), type: RTM_DELLINKPROP };
}

function names(index: number, alternativeName: string): Omit<NetlinkRequest, "type"> {
  const list = nested(IFLA_PROP_LIST, [attribute(IFLA_ALT_IFNAME, cString(alternativeName))]);
  return { flags: 0, body: concat([ifinfomsg(index), list]) };
}

/** Removes a link by its index or its name. */
export function linkRemoval(which: string | number): NetlinkRequest {
  const name = typeof which === "string" ? [attribute(IFLA_IFNAME, cString(which))] : [];
  return { type: RTM_DELLINK, flags: 0, body: concat([ifinfomsg(typeof which === "number" ? which : 0), ...name]) };
}
