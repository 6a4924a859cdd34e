// The grants of the networks of component-networks.ts, and the types that have no network there.

import type { DelegateGrants } from "../../src/configuration/keys/grant-keys.ts";

/** `wasm.grants` for all of these networks, and for the bridges of a cluster's default network and of its network `storage`. */
export const componentGrants: Readonly<Record<string, DelegateGrants>> = {
  bandwidth: { shaping: {} },
  bond: { links: { podLinks: ["bm*"], devices: ["bm0", "bm1"] }, delegation: { plugins: ["static"] }, log: {} },
  bridge: {
    links: { bridges: ["cni0", "br-storage", "br-kind*"], forwarding: true },
    delegation: { plugins: ["host-local", "static", "dhcp"] },
    log: {},
  },
  dhcp: { dhcp: {}, log: {} },
  dummy: { links: {}, delegation: { plugins: ["static"] }, log: {} },
  firewall: { filter: {}, log: {} },
  "host-device": { links: { devices: ["hd0"] }, delegation: { plugins: ["static"] }, log: {} },
  ipvlan: { links: { parents: ["iv0"] }, delegation: { plugins: ["static"] }, log: {} },
  macvlan: { links: { parents: ["mv0"] }, delegation: { plugins: ["static"] }, log: {} },
  portmap: { firewall: { hostPorts: ["8000-9000"] }, log: {} },
  ptp: {
    links: { networks: ["10.30.0.0/24", "10.42.0.0/24"], forwarding: true },
    delegation: { plugins: ["host-local"] },
    log: {},
  },
  "route-override": { links: {}, log: {} },
  sbr: { links: {}, routing: {} },
  static: { log: {} },
  tap: { links: {}, delegation: { plugins: ["static"] }, log: {} },
  tuning: { links: {}, sysctl: { keys: ["net/ipv4/conf/IFNAME/rp_filter"] }, state: {}, log: {} },
  vlan: { links: { parents: ["vl0"] }, delegation: { plugins: ["static"] }, log: {} },
  vrf: { links: { podLinks: ["blue"] }, log: {} },
};

/** Types without such a network, and where they are shown. */
export const shownElsewhere: Readonly<Record<string, string>> = {
  "host-local": "the network ptp",
  "ipam-host-local": "the network ptp, which names it host-local",
  "bridge-adapter": "the network bridge, which names it so",
  static: "most of the networks",
  loopback: "test/node/conformance/plugins/loopback.long.test.ts: the runtime attaches the loopback of a pod itself",
  ovs: "test/node/attach/open-vswitch.test.ts, test/node/daemon/link-repair.test.ts: a real Open vSwitch",
  "external-port": "test/cluster/external-ports.test.ts: a real Neutron with OVN",
  sriov: "test/node/attach/virtual-function.test.ts: an emulated adapter",
  "status-shaper": "test/node/attach/mixing.test.ts: changes a result only",
};
