// Messages that make links (RTM_NEWLINK with CREATE and EXCL). An existing link of that name stays unchanged (EEXIST). The
// messages ask for an echo: from 6.2 on the kernel answers with the link that it made.

import { attribute, nested, u32Attribute, type NetlinkRequest } from "./message.ts";
import { macBytes, concat, cString, u16, u8 } from "./bytes.ts";
import { SECOND_NAMESPACE } from "./exchange.ts";
import {
  BOND_MODES,
  IFF_UP,
  IFLA_ADDRESS,
  IFLA_BOND_ALL_SLAVES_ACTIVE,
  IFLA_BOND_FAIL_OVER_MAC,
  IFLA_BOND_MIIMON,
  IFLA_BOND_MODE,
  IFLA_BOND_TLB_DYNAMIC_LB,
  IFLA_BOND_XMIT_HASH_POLICY,
  IFLA_BR_VLAN_DEFAULT_PVID,
  IFLA_BR_VLAN_FILTERING,
  IFLA_IFNAME,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_IPVLAN_MODE,
  IFLA_LINK,
  IFLA_LINKINFO,
  IFLA_MACVLAN_BC_QUEUE_LEN,
  IFLA_MACVLAN_MODE,
  IFLA_MASTER,
  IFLA_MTU,
  IFLA_NET_NS_FD,
  IFLA_VLAN_ID,
  IFLA_VRF_TABLE,
  ifinfomsg,
  NLM_F_CREATE,
  NLM_F_ECHO,
  NLM_F_EXCL,
  RTM_NEWLINK,
  TRANSMIT_HASHES,
} from "./link-attributes.ts";

const VETH_INFO_PEER = 1;
const IFLA_NUM_TX_QUEUES = 31;
const IFLA_NUM_RX_QUEUES = 32;

/** Settings of any new link. */
export interface NewLink {
  readonly name: string;
  readonly mac?: string | undefined;
  readonly mtu?: number | undefined;
}

/** A bridge to make. */
export interface NewBridge extends NewLink {
  readonly vlanFiltering: boolean;
  readonly defaultPvid: number | undefined;
}

/** The two ends of a pair; the first is where the message is sent. */
export interface NewVeth {
  readonly near: NewLink & { readonly master?: number | undefined };
  readonly far: NewLink;
  /** Whether the far end is in the effect's second namespace or in the near end's. */
  readonly farIn: "second namespace" | "same namespace";
  /**
   * Maximum number of queues of each end; absent: the kernel's default, one for each CPU. A veth uses one queue until more are configured. A higher
   * maximum costs a wait for RCU at creation: 0.5 ms of 1.8, and more on a busy machine.
   */
  readonly queues?: number | undefined;
}

/** A link on a lower link; the message is sent in the lower link's namespace. */
export interface NewUpper extends NewLink {
  /** Index of the lower link. */
  readonly parent: number;
  /** Whether the link is made in the effect's second namespace. */
  readonly inSecondNamespace: boolean;
}

const MACVLAN_MODES = { private: 1, vepa: 2, bridge: 4, passthru: 8 } as const;
const IPVLAN_MODES = { l2: 0, l3: 1, l3s: 2 } as const;

/** A bridge that is up. */
export function newBridge(bridge: NewBridge): NetlinkRequest {
  const data = [
    ...(bridge.vlanFiltering ? [attribute(IFLA_BR_VLAN_FILTERING, u8(1))] : []),
    ...(bridge.defaultPvid === undefined ? [] : [attribute(IFLA_BR_VLAN_DEFAULT_PVID, u16(bridge.defaultPvid))]),
  ];
  return creation([...common(bridge), kind("bridge", data)], IFF_UP);
}

/** A pair whose near end is up. The same message cannot bring the far end up (ENOTCONN). */
export function newVeth({ near, far, farIn, queues }: NewVeth): NetlinkRequest {
  const farNamespace = farIn === "second namespace" ? [secondNamespace()] : [];
  const queueCounts =
    queues === undefined ? [] : [IFLA_NUM_TX_QUEUES, IFLA_NUM_RX_QUEUES].map((type) => u32Attribute(type, queues));
  const peer = attribute(VETH_INFO_PEER, concat([ifinfomsg(), ...common(far), ...queueCounts, ...farNamespace]));
  const master = near.master === undefined ? [] : [u32Attribute(IFLA_MASTER, near.master)];
  return creation([...common(near), ...queueCounts, ...master, kind("veth", [peer])], IFF_UP);
}

/** A macvlan on a lower link. */
export function newMacvlan(
  link: NewUpper & { readonly mode: keyof typeof MACVLAN_MODES; readonly broadcastQueue: number | undefined },
): NetlinkRequest {
  const data = [
    u32Attribute(IFLA_MACVLAN_MODE, MACVLAN_MODES[link.mode]),
    ...(link.broadcastQueue === undefined ? [] : [u32Attribute(IFLA_MACVLAN_BC_QUEUE_LEN, link.broadcastQueue)]),
  ];
  return creation([...upper(link), kind("macvlan", data)]);
}

/** An ipvlan on a lower link. */
export function newIpvlan(link: NewUpper & { readonly mode: keyof typeof IPVLAN_MODES }): NetlinkRequest {
  return creation([...upper(link), kind("ipvlan", [attribute(IFLA_IPVLAN_MODE, u16(IPVLAN_MODES[link.mode]))])]);
}

/** A VLAN (802.1Q) on a lower link. */
export function newVlan(link: NewUpper & { readonly id: number }): NetlinkRequest {
  return creation([...upper(link), kind("vlan", [attribute(IFLA_VLAN_ID, u16(link.id))])]);
}

/** A dummy link. */
export function newDummy(link: NewLink): NetlinkRequest {
  return creation([...common(link), kind("dummy", [])]);
}

/** A VRF with its routing table. */
export function newVrf(link: NewLink & { readonly table: number }): NetlinkRequest {
  return creation([...common(link), kind("vrf", [u32Attribute(IFLA_VRF_TABLE, link.table)])]);
}

/** A bond without members. Its mode comes first: the kernel checks later settings against it. */
export function newBond(
  link: NewLink & {
    readonly mode: (typeof BOND_MODES)[number];
    readonly monitorInterval: number | undefined;
    readonly failOverMac: number | undefined;
    readonly allMembersActive: boolean | undefined;
    readonly dynamicBalancing: boolean | undefined;
    readonly transmitHash: (typeof TRANSMIT_HASHES)[number] | undefined;
  },
): NetlinkRequest {
  const { mode, monitorInterval, failOverMac, allMembersActive, dynamicBalancing, transmitHash } = link;
  const data = [
    attribute(IFLA_BOND_MODE, u8(BOND_MODES.indexOf(mode))),
    ...(monitorInterval === undefined ? [] : [u32Attribute(IFLA_BOND_MIIMON, monitorInterval)]),
    ...(failOverMac === undefined ? [] : [attribute(IFLA_BOND_FAIL_OVER_MAC, u8(failOverMac))]),
    ...(transmitHash === undefined ? [] : [attribute(IFLA_BOND_XMIT_HASH_POLICY, u8(TRANSMIT_HASHES.indexOf(transmitHash)))]),
    ...bit(IFLA_BOND_ALL_SLAVES_ACTIVE, allMembersActive),
    ...bit(IFLA_BOND_TLB_DYNAMIC_LB, dynamicBalancing),
  ];
  return creation([...common(link), kind("bond", data)]);
}

function bit(type: number, value: boolean | undefined): readonly Uint8Array[] {
  return value === undefined ? [] : [attribute(type, u8(value ? 1 : 0))];
}

function creation(attributes: readonly Uint8Array[], flags = 0): NetlinkRequest {
  return {
    type: RTM_NEWLINK,
    flags: NLM_F_CREATE | NLM_F_EXCL | NLM_F_ECHO,
    body: concat([ifinfomsg(0, flags, flags), ...attributes]),
  };
}

function common({ name, mac, mtu }: NewLink): Uint8Array[] {
  const bytes = mac === undefined ? undefined : macBytes(mac);
  return [
    attribute(IFLA_IFNAME, cString(name)),
    ...(mtu === undefined ? [] : [u32Attribute(IFLA_MTU, mtu)]),
    ...(bytes === undefined ? [] : [attribute(IFLA_ADDRESS, bytes)]),
  ];
}

function upper(link: NewUpper): Uint8Array[] {
  return [...common(link), u32Attribute(IFLA_LINK, link.parent), ...(link.inSecondNamespace ? [secondNamespace()] : [])];
}

function kind(name: string, data: readonly Uint8Array[]): Uint8Array {
  const info = [attribute(IFLA_INFO_KIND, cString(name)), ...(data.length === 0 ? [] : [nested(IFLA_INFO_DATA, data)])];
  return nested(IFLA_LINKINFO, info);
}

/** The only namespace that a message can name: the second namespace, which the shim opened. */
function secondNamespace(): Uint8Array {
  return u32Attribute(IFLA_NET_NS_FD, SECOND_NAMESPACE);
}
