// The lists of the rows delegate-NAME: for each reference plugin, and popular ones of the field, the shortest list in which it does its work.

import { fieldPluginIsThere } from "../test/lab/field-plugins.ts";
import { missingOpenVswitch, startOpenVswitch } from "../test/lab/neutron/open-vswitch.ts";
import type { Installation } from "../test/lab/plexus.ts";
import { command, linkType, type Requirement, tunDevice } from "../test/lab/requires.ts";
import { trafficControl } from "../test/lab/traffic-control.ts";

type Keys = Readonly<Record<string, unknown>>;

/** A configuration list with the grants and arguments of its call. */
export interface MeasuredList {
  readonly plugins: readonly Keys[];
  /** Types of the list that are components on both sides. */
  readonly others: readonly string[];
  /** `wasm.grants`. */
  readonly grants: Readonly<Record<string, Keys>>;
  readonly runtimeConfig?: Keys;
}

/** One side of the comparison. */
export interface Side {
  readonly kind: "native" | "wasm";
  /** The socket of the program that the list needs; empty for none. */
  readonly socket: string;
}

/** A program that a list needs. */
export interface Service {
  readonly socket: string;
  readonly dispose: () => Promise<void>;
}

/** A reference plugin, or a popular one of the field, with its list. */
export interface MeasuredDelegate {
  readonly type: string;
  /** All types of the list, `type` among them. */
  readonly types: readonly string[];
  /** CNI_IFNAME; by default eth0. */
  readonly ifname?: string;
  /** Requirements of the list on the kernel and the machine. */
  readonly requires?: readonly Requirement[];
  /** Commands of ip(8) on the node and in the pod, before the first call. */
  readonly onNode?: readonly string[];
  readonly inPod?: readonly string[];
  readonly start?: () => Promise<Service>;
  list(plexus: Installation, side: Side): MeasuredList;
}

/** A plugin under test: its keys and its grants, and what else its list needs. */
interface Draft extends Pick<MeasuredDelegate, "ifname" | "requires" | "onNode" | "inPod" | "start"> {
  /** The kind of the plugin's list: alone, with host-local as its IPAM plugin, after a veth, or as the IPAM plugin of a veth. */
  readonly list: "alone" | "addressed" | "chained" | "ipam";
  readonly keys?: (plexus: Installation, side: Side) => Keys;
  readonly grant: (plexus: Installation, side: Side) => Keys;
  readonly runtimeConfig?: Keys;
}

const subnet = "10.88.0.0/16";
const address = { address: "10.88.0.5/16", gateway: "10.88.0.1" };
const delegates = (ipam: string): Keys => ({ delegation: { plugins: [ipam] }, log: {} });
const leaseGrant = (plexus: Installation): Keys => ({ leases: { directories: [plexus.state("leases")] }, resolver: {}, log: {} });
const hostLocal = (plexus: Installation): Keys => ({ type: "host-local", subnet, dataDir: plexus.state("leases") });
const veth = (ipam: Keys): Keys => ({ type: "bridge", bridge: "br0", isGateway: true, ipam });
const vethGrant = (ipam: string): Keys => ({ links: { bridges: ["br0"], forwarding: true }, ...delegates(ipam) });

/** A veth of the node, which is a lower link. */
const lowerLink = ["link add up0 type veth peer name up0-e", "link set up0-e up", "link set up0 up"];
const onLowerLink = { ...delegates("host-local"), links: { parents: ["up0"] } };

/** Open vSwitch with dummy devices: the port is a row of its database, and no frame passes. */
async function startSwitch(): Promise<Service> {
  const ovs = await startOpenVswitch();
  ovs.vsctl("add-br", "br1", "--", "set", "bridge", "br1", "datapath_type=dummy");
  await ovs.startVswitchd();
  return ovs;
}

const drafts: Readonly<Record<string, Draft>> = {
  bandwidth: {
    list: "chained",
    requires: [trafficControl],
    keys: () => ({ ingressRate: 8_000_000, ingressBurst: 800_000, egressRate: 8_000_000, egressBurst: 800_000 }),
    grant: () => ({ shaping: {} }),
  },
  bond: {
    list: "addressed",
    requires: [linkType("bond"), fieldPluginIsThere("bond")],
    onNode: ["bm0", "bm1"].flatMap((name) => [`link add ${name} type veth peer name ${name}-e`, `link set ${name}-e up`]),
    keys: () => ({ mode: "active-backup", miimon: "100", links: [{ name: "bm0" }, { name: "bm1" }] }),
    grant: (plexus) => ({
      links: { devices: ["bm0", "bm1"], podLinks: ["bm*"], deviceRecords: plexus.state("devices") },
      ...delegates("host-local"),
    }),
  },
  bridge: {
    list: "addressed",
    requires: [linkType("bridge")],
    keys: () => ({ bridge: "br0", isGateway: true }),
    grant: () => vethGrant("host-local"),
  },
  dummy: { list: "addressed", requires: [linkType("dummy")], grant: () => ({ links: {}, ...delegates("host-local") }) },
  firewall: {
    list: "chained",
    requires: [command("iptables", "-V")],
    keys: () => ({ backend: "iptables" }),
    grant: () => ({ filter: {}, log: {} }),
  },
  "host-device": {
    list: "addressed",
    onNode: ["link add dev0 type veth peer name dev0-e", "link set dev0-e up"],
    keys: () => ({ device: "dev0" }),
    grant: (plexus) => ({
      links: { devices: ["dev0"], deviceRecords: plexus.state("devices") },
      ...delegates("host-local"),
    }),
  },
  "host-local": { list: "ipam", keys: (plexus) => ({ subnet, dataDir: plexus.state("leases") }), grant: leaseGrant },
  ipvlan: {
    list: "addressed",
    requires: [linkType("ipvlan")],
    onNode: lowerLink,
    keys: () => ({ master: "up0" }),
    grant: () => onLowerLink,
  },
  loopback: { list: "alone", ifname: "lo", grant: () => ({ links: {}, log: {} }) },
  macvlan: {
    list: "addressed",
    requires: [linkType("macvlan")],
    onNode: lowerLink,
    keys: () => ({ master: "up0" }),
    grant: () => onLowerLink,
  },
  ovs: {
    list: "addressed",
    requires: [missingOpenVswitch, fieldPluginIsThere("ovs")],
    start: startSwitch,
    // The grant has the socket for the component.
    keys: (_plexus, { kind, socket }) => ({
      bridge: "br1",
      vlan: 100,
      ...(kind === "native" ? { socket_file: `unix:${socket}` } : {}),
    }),
    grant: (_plexus, { socket }) => ({
      links: {},
      ovs: { bridges: ["br1"], vlans: ["100"], socket },
      ...delegates("host-local"),
    }),
  },
  portmap: {
    list: "chained",
    requires: [command("iptables", "-V")],
    keys: () => ({ capabilities: { portMappings: true } }),
    grant: () => ({ firewall: { hostPorts: ["8080"] }, log: {} }),
    runtimeConfig: { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }] },
  },
  ptp: {
    list: "addressed",
    grant: () => ({ links: { networks: [subnet], forwarding: true }, ...delegates("host-local") }),
  },
  "route-override": {
    list: "chained",
    requires: [fieldPluginIsThere("route-override")],
    keys: () => ({ addroutes: [{ dst: "198.51.100.0/24", gw: "10.88.0.1" }] }),
    grant: () => ({ links: {}, log: {} }),
  },
  sbr: { list: "chained", grant: () => ({ links: {}, routing: {} }) },
  static: { list: "ipam", keys: () => ({ addresses: [address] }), grant: () => ({ log: {} }) },
  tap: { list: "addressed", requires: [tunDevice], grant: () => ({ links: {}, ...delegates("host-local") }) },
  tuning: {
    list: "chained",
    keys: (plexus) => ({ mtu: 1400, sysctl: { "net.core.somaxconn": "512" }, dataDir: plexus.state("tuning") }),
    grant: (plexus) => ({
      links: {},
      sysctl: { keys: ["net/core/somaxconn"] },
      state: { directories: [plexus.state("tuning")] },
      log: {},
    }),
  },
  vlan: {
    list: "addressed",
    requires: [linkType("vlan")],
    onNode: lowerLink,
    keys: () => ({ master: "up0", vlanId: 5 }),
    grant: () => onLowerLink,
  },
  vrf: {
    list: "chained",
    requires: [linkType("vrf")],
    keys: () => ({ vrfname: "blue" }),
    grant: () => ({ links: { podLinks: ["blue"] }, log: {} }),
  },
};

/** Reference plugins and popular ones without a row, and why. */
export const unmeasuredPlugins: Readonly<Record<string, string>> = {
  dhcp: "most of its time is the DHCP server's",
  sriov: "no machine of the benchmark has virtual functions, and an emulated adapter's times say nothing",
};

function measured([type, draft]: readonly [string, Draft]): MeasuredDelegate {
  const { list, keys = () => ({}), grant, runtimeConfig, ...more } = draft;
  const others = { alone: [], addressed: [], chained: ["bridge", "static"], ipam: ["bridge"] }[list];
  return {
    ...more,
    type,
    types: [...new Set([type, ...others, ...(list === "addressed" ? ["host-local"] : [])])],
    list(plexus, side) {
      const step = { type, ...keys(plexus, side) };
      const plugins = {
        alone: () => [step],
        addressed: () => [{ ...step, ipam: hostLocal(plexus) }],
        chained: () => [veth({ type: "static", addresses: [address] }), step],
        ipam: () => [veth(step)],
      }[list]();
      const grants = {
        bridge: vethGrant(list === "ipam" ? type : "static"),
        static: { log: {} },
        "host-local": leaseGrant(plexus),
        [type]: grant(plexus, side),
      };
      return { plugins, others, grants, ...(runtimeConfig === undefined ? {} : { runtimeConfig }) };
    },
  };
}

/** The plugins that a row measures. */
export const measuredDelegates: readonly MeasuredDelegate[] = Object.entries(drafts).map(measured);
