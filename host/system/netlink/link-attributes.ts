// Numbers of link messages and their attributes that more than one file uses (linux/if_link.h, linux/rtnetlink.h). No attribute here reaches into
// another namespace by its id or a process (IFLA_TARGET_NETNSID, IFLA_NEW_NETNSID, IFLA_NET_NS_PID): such a message, sent in a pod's namespace, would
// act in the host's.

import { putU32 } from "./bytes.ts";

export const RTM_NEWLINK = 16;
export const RTM_DELLINK = 17;
export const RTM_GETLINK = 18;
export const RTM_SETLINK = 19;
export const RTM_GETNSID = 90;

export const NLM_F_ECHO = 0x8;
export const NLM_F_DUMP = 0x300;
export const NLM_F_EXCL = 0x200;
export const NLM_F_CREATE = 0x400;

export const IFF_UP = 0x1;
export const IFF_RUNNING = 0x40;
export const IFF_PROMISC = 0x100;
export const IFF_ALLMULTI = 0x200;
export const IFF_LOWER_UP = 0x1_0000;

export const IFLA_ADDRESS = 1;
export const IFLA_IFNAME = 3;
export const IFLA_MTU = 4;
export const IFLA_LINK = 5;
export const IFLA_MASTER = 10;
export const IFLA_PROTINFO = 12;
export const IFLA_TXQLEN = 13;
export const IFLA_LINKINFO = 18;
export const IFLA_IFALIAS = 20;
export const IFLA_AF_SPEC = 26;
export const IFLA_NET_NS_FD = 28;
export const IFLA_EXT_MASK = 29;
export const IFLA_LINK_NETNSID = 37;
export const IFLA_PROP_LIST = 52;
export const IFLA_ALT_IFNAME = 53;
export const IFLA_PERM_ADDRESS = 54;
export const IFLA_PARENT_DEV_NAME = 56;
export const IFLA_PARENT_DEV_BUS_NAME = 57;

export const IFLA_INFO_KIND = 1;
export const IFLA_INFO_DATA = 2;
export const IFLA_INFO_SLAVE_KIND = 4;
export const IFLA_INFO_SLAVE_DATA = 5;

export const IFLA_BR_VLAN_FILTERING = 7;
export const IFLA_BR_VLAN_DEFAULT_PVID = 39;
export const IFLA_BRPORT_MODE = 4;
export const IFLA_BRPORT_LEARNING = 8;
export const IFLA_BRPORT_UNICAST_FLOOD = 9;
export const IFLA_BRPORT_ISOLATED = 33;
export const IFLA_MACVLAN_MODE = 1;
export const IFLA_MACVLAN_BC_QUEUE_LEN = 7;
export const IFLA_IPVLAN_MODE = 1;
export const IFLA_VLAN_ID = 1;
export const IFLA_VRF_TABLE = 1;
export const IFLA_BOND_MODE = 1;
export const IFLA_BOND_MIIMON = 3;
export const IFLA_BOND_FAIL_OVER_MAC = 13;
export const IFLA_BOND_XMIT_HASH_POLICY = 14;
export const IFLA_BOND_ALL_SLAVES_ACTIVE = 17;
export const IFLA_BOND_TLB_DYNAMIC_LB = 27;

/** How a bond chooses the member for a frame, in the order of the kernel's numbers: layer2, layer3+4, layer2+3, encap2+3, encap3+4, vlan+srcmac. */
export const TRANSMIT_HASHES = ["layer2", "layer34", "layer23", "encap23", "encap34", "vlan-source-mac"] as const;

/** The modes of a bond, in the order of their numbers. */
export const BOND_MODES = [
  "balance-rr",
  "active-backup",
  "balance-xor",
  "broadcast",
  "ieee8023ad",
  "balance-tlb",
  "balance-alb",
] as const;

/** A flag of IFLA_EXT_MASK: the kernel leaves out the counters, which are half of its answer. */
export const RTEXT_FILTER_SKIP_STATS = 8;

const AF_UNSPEC = 0;
export const AF_BRIDGE = 7;
export const IFINFOMSG = 16;

/** The fixed part of a link's message. `flags`: the new values; `change`: the mask of flags that change. */
export function ifinfomsg(index = 0, flags = 0, change = 0, family = AF_UNSPEC): Uint8Array {
  const bytes = new Uint8Array(IFINFOMSG);
  bytes[0] = family;
  putU32(bytes, 4, index);
  putU32(bytes, 8, flags);
  putU32(bytes, 12, change);
  return bytes;
}
