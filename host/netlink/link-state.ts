// A link with all that RTM_GETLINK tells of it and a delegate may read or an undo has to know.

import { macText } from "./address-bytes.ts";
import {
  IFF_ALLMULTI,
  IFF_PROMISC,
  IFF_RUNNING,
  IFF_UP,
  IFINFOMSG,
  IFLA_ADDRESS,
  IFLA_AF_SPEC,
  IFLA_ALT_IFNAME,
  IFLA_BR_VLAN_DEFAULT_PVID,
  IFLA_BR_VLAN_FILTERING,
  IFLA_BRPORT_ISOLATED,
  IFLA_BRPORT_LEARNING,
  IFLA_BRPORT_MODE,
  IFLA_BRPORT_UNICAST_FLOOD,
  IFLA_IFNAME,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_INFO_SLAVE_DATA,
  IFLA_INFO_SLAVE_KIND,
  IFLA_IPVLAN_MODE,
  IFLA_LINK,
  IFLA_LINK_NETNSID,
  IFLA_LINKINFO,
  IFLA_MACVLAN_MODE,
  IFLA_MASTER,
  IFLA_MTU,
  IFLA_PROP_LIST,
  IFLA_TXQLEN,
  IFLA_VLAN_ID,
  RTM_NEWLINK,
} from "./link-attributes.ts";
import { attributesIn, attributeList, textIn, viewOf } from "./message.ts";

/** How a port of a bridge treats its frames. */
export interface PortState {
  readonly hairpin: boolean;
  readonly isolated: boolean;
  readonly learning: boolean;
  readonly flood: boolean;
}

export interface LinkState {
  readonly index: number;
  readonly name: string;
  /** Lower case with colons; empty where the link has none. */
  readonly mac: string;
  readonly mtu: number;
  readonly up: boolean;
  readonly running: boolean;
  /** What it was set to; a bridge's port listens to everything without. */
  readonly promiscuous: boolean;
  readonly allMulticast: boolean;
  readonly txQueueLength: number;
  readonly alternativeNames: readonly string[];
  readonly kind: string;
  /** Index of its bridge or VRF. */
  readonly master: number | undefined;
  /** Index of a veth's other end, or of what it lies on, in the namespace `linkNamespace`. */
  readonly link: number | undefined;
  /** The id by which its own namespace knows that of `link`; undefined: the same one. */
  readonly linkNamespace: number | undefined;
  /** A macvlan's or an ipvlan's, as ip(8) names it. */
  readonly mode: string | undefined;
  readonly vlanId: number | undefined;
  readonly vlanFiltering: boolean | undefined;
  readonly defaultPvid: number | undefined;
  readonly port: PortState | undefined;
  /** What its address families say of it (IFLA_AF_SPEC). */
  readonly spec: Uint8Array;
}

const AF_INET = 2;
const IFLA_INET_CONF = 1;
const AF_INET6 = 10;
const IFLA_INET6_CONF = 2;
/** These count from 0 (linux/ipv6.h). */
const DEVCONF_ACCEPT_RA = 3;
const MACVLAN_MODES: ReadonlyMap<number, string> = new Map([
  [1, "private"],
  [2, "vepa"],
  [4, "bridge"],
  [8, "passthru"],
  [16, "source"],
]);
const IPVLAN_MODES = ["l2", "l3", "l3s"] as const;
const none = new Uint8Array(0);

/** A link, or undefined where the message tells something else. */
export function linkStateIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): LinkState | undefined {
  if (type !== RTM_NEWLINK || body.length < IFINFOMSG) return undefined;
  const fixed = viewOf(body);
  const flags = fixed.u32(8);
  const attributes = attributesIn(body.subarray(IFINFOMSG));
  const number = (which: number): number | undefined => {
    const bytes = attributes.get(which);
    return bytes === undefined ? undefined : viewOf(bytes).i32(0);
  };
  const info = attributesIn(attributes.get(IFLA_LINKINFO) ?? none);
  const kind = textIn(info.get(IFLA_INFO_KIND));
  return {
    index: fixed.i32(4),
    name: textIn(attributes.get(IFLA_IFNAME)),
    mac: macText(attributes.get(IFLA_ADDRESS)),
    mtu: number(IFLA_MTU) ?? 0,
    up: (flags & IFF_UP) !== 0,
    running: (flags & IFF_RUNNING) !== 0,
    promiscuous: (flags & IFF_PROMISC) !== 0,
    allMulticast: (flags & IFF_ALLMULTI) !== 0,
    txQueueLength: number(IFLA_TXQLEN) ?? 0,
    alternativeNames: attributeList(attributes.get(IFLA_PROP_LIST) ?? none).flatMap(([which, value]) =>
      which === IFLA_ALT_IFNAME ? [textIn(value)] : [],
    ),
    kind,
    master: number(IFLA_MASTER),
    link: number(IFLA_LINK),
    linkNamespace: number(IFLA_LINK_NETNSID),
    ...kindState(kind, attributesIn(info.get(IFLA_INFO_DATA) ?? none)),
    port:
      textIn(info.get(IFLA_INFO_SLAVE_KIND)) === "bridge"
        ? portState(attributesIn(info.get(IFLA_INFO_SLAVE_DATA) ?? none))
        : undefined,
    spec: attributes.get(IFLA_AF_SPEC) ?? none,
  };
}

type KindState = Pick<LinkState, "mode" | "vlanId" | "vlanFiltering" | "defaultPvid">;

function kindState(kind: string, data: ReadonlyMap<number, Uint8Array>): KindState {
  const number = (which: number, size: 1 | 2 | 4): number => {
    const bytes = data.get(which) ?? none;
    return size === 1 ? (bytes[0] ?? 0) : size === 2 ? viewOf(bytes).u16(0) : viewOf(bytes).u32(0);
  };
  const bridge = kind === "bridge";
  return {
    mode:
      kind === "macvlan"
        ? MACVLAN_MODES.get(number(IFLA_MACVLAN_MODE, 4))
        : kind === "ipvlan"
          ? IPVLAN_MODES[number(IFLA_IPVLAN_MODE, 2)]
          : undefined,
    vlanId: kind === "vlan" ? number(IFLA_VLAN_ID, 2) : undefined,
    vlanFiltering: bridge ? number(IFLA_BR_VLAN_FILTERING, 1) !== 0 : undefined,
    defaultPvid: bridge && data.has(IFLA_BR_VLAN_DEFAULT_PVID) ? number(IFLA_BR_VLAN_DEFAULT_PVID, 2) : undefined,
  };
}

function portState(data: ReadonlyMap<number, Uint8Array>): PortState {
  const on = (which: number): boolean => (data.get(which)?.[0] ?? 0) !== 0;
  return {
    hairpin: on(IFLA_BRPORT_MODE),
    isolated: on(IFLA_BRPORT_ISOLATED),
    learning: on(IFLA_BRPORT_LEARNING),
    flood: on(IFLA_BRPORT_UNICAST_FLOOD),
  };
}

/** `net.ipv4.conf.<link>`, by its IPV4_DEVCONF_*; undefined where the link has none. The kernel tells all in the order of their ids, from 1. */
export function inetSetting({ spec }: LinkState, id: number): number | undefined {
  const values = attributesIn(attributesIn(spec).get(AF_INET) ?? none).get(IFLA_INET_CONF) ?? none;
  return id >= 1 && values.length >= 4 * id ? viewOf(values).i32(4 * (id - 1)) : undefined;
}

/** `net.ipv6.conf.<link>.accept_ra`; undefined where the link has no IPv6. */
export function acceptRa({ spec }: LinkState): number | undefined {
  const values = attributesIn(attributesIn(spec).get(AF_INET6) ?? none).get(IFLA_INET6_CONF);
  return values === undefined ? undefined : viewOf(values).i32(4 * DEVCONF_ACCEPT_RA);
}
