// A link with everything of RTM_GETLINK that a delegate may read or an undo needs.

import { Attributes, attributesIn, textIn } from "./message.ts";
import { macText, i32At, u32At } from "./bytes.ts";
import {
  BOND_MODES,
  IFF_ALLMULTI,
  IFF_LOWER_UP,
  IFF_PROMISC,
  IFF_RUNNING,
  IFF_UP,
  IFINFOMSG,
  IFLA_ADDRESS,
  IFLA_AF_SPEC,
  IFLA_ALT_IFNAME,
  IFLA_BOND_MODE,
  IFLA_BR_VLAN_DEFAULT_PVID,
  IFLA_BR_VLAN_FILTERING,
  IFLA_BRPORT_ISOLATED,
  IFLA_BRPORT_LEARNING,
  IFLA_BRPORT_MODE,
  IFLA_BRPORT_UNICAST_FLOOD,
  IFLA_IFALIAS,
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
  IFLA_PARENT_DEV_BUS_NAME,
  IFLA_PARENT_DEV_NAME,
  IFLA_PERM_ADDRESS,
  IFLA_PROP_LIST,
  IFLA_TXQLEN,
  IFLA_VLAN_ID,
  IFLA_VRF_TABLE,
  RTM_NEWLINK,
} from "./link-attributes.ts";

/** A bridge port's treatment of frames. */
export interface PortState {
  readonly hairpin: boolean;
  readonly isolated: boolean;
  readonly learning: boolean;
  readonly flood: boolean;
}

/** A device on a bus of the machine: its directory is `/sys/bus/<bus>/devices/<name>`. */
export interface ParentDevice {
  readonly bus: string;
  readonly name: string;
}

/** The state of a link. */
export interface LinkState {
  readonly index: number;
  readonly name: string;
  /** Lower case with colons; empty where the link has none. */
  readonly mac: string;
  readonly mtu: number;
  readonly up: boolean;
  readonly running: boolean;
  /** Whether the link below carries packets (`IFF_LOWER_UP`). */
  readonly carrier: boolean;
  /** Whether promiscuous mode was set. A bridge's port receives all frames without it. */
  readonly promiscuous: boolean;
  readonly allMulticast: boolean;
  readonly txQueueLength: number;
  readonly alternativeNames: readonly string[];
  /** The text that an administrator or a plugin gave the link (`ifalias`); empty without one. */
  readonly alias: string;
  /** The MAC of the hardware, which nobody can change; empty for a virtual link. */
  readonly permanentMac: string;
  /** The device of the link; undefined for a virtual link, and before Linux 5.14. */
  readonly parentDevice: ParentDevice | undefined;
  readonly kind: string;
  /** Index of its bridge, bond or VRF. */
  readonly master: number | undefined;
  /** The kind of its master: `bridge`, `bond`, `vrf`; empty without one. */
  readonly masterKind: string;
  /** Index of a veth's other end, or of the lower link, in the namespace `linkNamespace`. */
  readonly link: number | undefined;
  /** The id by which the link's namespace knows the namespace of `link`; undefined: it is the same namespace. */
  readonly linkNamespace: number | undefined;
  /** The mode of a macvlan, an ipvlan or a bond: ip(8)'s name, for a bond that of the WIT interface. */
  readonly mode: string | undefined;
  readonly vlanId: number | undefined;
  /** The routing table of a VRF. */
  readonly vrfTable: number | undefined;
  readonly vlanFiltering: boolean | undefined;
  readonly defaultPvid: number | undefined;
  readonly port: PortState | undefined;
  /** Settings of the address families (IFLA_AF_SPEC). */
  readonly spec: Uint8Array;
}

const AF_INET = 2;
const IFLA_INET_CONF = 1;
const AF_INET6 = 10;
const IFLA_INET6_CONF = 2;
/** The indexes count from 0 (linux/ipv6.h). */
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
const noNames: readonly string[] = [];

/** The links in an answer, in its order; none without an answer. */
export function linkStatesIn(answer: { readonly messages: readonly LinkMessage[] } | undefined): readonly LinkState[] {
  return answer?.messages.flatMap((message) => linkStateIn(message) ?? []) ?? [];
}

interface LinkMessage {
  readonly type: number;
  readonly body: Uint8Array;
}

/** The link in a message; undefined for a message of another type. */
export function linkStateIn({ type, body }: LinkMessage): LinkState | undefined {
  if (type !== RTM_NEWLINK || body.length < IFINFOMSG) return undefined;
  const flags = u32At(body, 8);
  const attributes = new Attributes(body, IFINFOMSG);
  const info = attributes.within(IFLA_LINKINFO);
  const kind = info.text(IFLA_INFO_KIND);
  const masterKind = info.text(IFLA_INFO_SLAVE_KIND);
  const { mode, vlanId, vrfTable, vlanFiltering, defaultPvid } = kindState(kind, info);
  return {
    index: i32At(body, 4),
    name: attributes.text(IFLA_IFNAME),
    mac: macText(attributes.get(IFLA_ADDRESS)),
    mtu: attributes.i32(IFLA_MTU) ?? 0,
    up: (flags & IFF_UP) !== 0,
    running: (flags & IFF_RUNNING) !== 0,
    carrier: (flags & IFF_LOWER_UP) !== 0,
    promiscuous: (flags & IFF_PROMISC) !== 0,
    allMulticast: (flags & IFF_ALLMULTI) !== 0,
    txQueueLength: attributes.u32(IFLA_TXQLEN) ?? 0,
    alternativeNames: attributes.has(IFLA_PROP_LIST) ? alternativeNames(attributes.within(IFLA_PROP_LIST)) : noNames,
    alias: attributes.text(IFLA_IFALIAS),
    permanentMac: macText(attributes.get(IFLA_PERM_ADDRESS)),
    parentDevice: parentDevice(attributes),
    kind,
    master: attributes.i32(IFLA_MASTER),
    masterKind,
    link: attributes.i32(IFLA_LINK),
    linkNamespace: attributes.i32(IFLA_LINK_NETNSID),
    mode,
    vlanId,
    vrfTable,
    vlanFiltering,
    defaultPvid,
    port: masterKind === "bridge" ? portState(info.within(IFLA_INFO_SLAVE_DATA)) : undefined,
    spec: attributes.get(IFLA_AF_SPEC) ?? none,
  };
}

function parentDevice(attributes: Attributes): ParentDevice | undefined {
  const [bus, name] = [attributes.text(IFLA_PARENT_DEV_BUS_NAME), attributes.text(IFLA_PARENT_DEV_NAME)];
  return bus === "" || name === "" ? undefined : { bus, name };
}

function alternativeNames(names: Attributes): readonly string[] {
  return names.list().flatMap(([which, value]) => (which === IFLA_ALT_IFNAME ? [textIn(value)] : []));
}

type KindState = Pick<LinkState, "mode" | "vlanId" | "vrfTable" | "vlanFiltering" | "defaultPvid">;

const ofNoKind: KindState = {
  mode: undefined,
  vlanId: undefined,
  vrfTable: undefined,
  vlanFiltering: undefined,
  defaultPvid: undefined,
};

function kindState(kind: string, info: Attributes): KindState {
  const data = info.within(IFLA_INFO_DATA);
  switch (kind) {
    case "bridge":
      return {
        ...ofNoKind,
        vlanFiltering: (data.u8(IFLA_BR_VLAN_FILTERING) ?? 0) !== 0,
        defaultPvid: data.u16(IFLA_BR_VLAN_DEFAULT_PVID),
      };
    case "macvlan":
      return { ...ofNoKind, mode: MACVLAN_MODES.get(data.u32(IFLA_MACVLAN_MODE) ?? 0) };
    case "ipvlan":
      return { ...ofNoKind, mode: IPVLAN_MODES[data.u16(IFLA_IPVLAN_MODE) ?? 0] };
    case "bond":
      return { ...ofNoKind, mode: BOND_MODES[data.u8(IFLA_BOND_MODE) ?? 0] };
    case "vlan":
      return { ...ofNoKind, vlanId: data.u16(IFLA_VLAN_ID) ?? 0 };
    case "vrf":
      return { ...ofNoKind, vrfTable: data.u32(IFLA_VRF_TABLE) };
    default:
      return ofNoKind;
  }
}

function portState(data: Attributes): PortState {
  return {
    hairpin: (data.u8(IFLA_BRPORT_MODE) ?? 0) !== 0,
    isolated: (data.u8(IFLA_BRPORT_ISOLATED) ?? 0) !== 0,
    learning: (data.u8(IFLA_BRPORT_LEARNING) ?? 0) !== 0,
    flood: (data.u8(IFLA_BRPORT_UNICAST_FLOOD) ?? 0) !== 0,
  };
}

/** `net.ipv4.conf.<link>`, by its IPV4_DEVCONF_*; undefined where the link has none. The kernel sends all in the order of their ids, from 1. */
export function inetSetting({ spec }: LinkState, id: number): number | undefined {
  const values = attributesIn(spec).within(AF_INET).get(IFLA_INET_CONF) ?? none;
  return id >= 1 && values.length >= 4 * id ? i32At(values, 4 * (id - 1)) : undefined;
}

/** `net.ipv6.conf.<link>.accept_ra`; undefined where the link has no IPv6. */
export function acceptRa({ spec }: LinkState): number | undefined {
  const values = attributesIn(spec).within(AF_INET6).get(IFLA_INET6_CONF);
  return values === undefined ? undefined : i32At(values, 4 * DEVCONF_ACCEPT_RA);
}
