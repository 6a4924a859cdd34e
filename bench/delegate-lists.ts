// The lists of the rows delegate-NAME: for each reference plugin the shortest list in which it does its work.

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

/** A reference plugin with its list. */
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
  list(plexus: Installation): MeasuredList;
}

/** A plugin under test: its keys and its grants, and what else its list needs. */
interface Draft extends Pick<MeasuredDelegate, "ifname" | "requires" | "onNode" | "inPod"> {
  /** The kind of the plugin's list: alone, with host-local as its IPAM plugin, after a veth, or as the IPAM plugin of a veth. */
  readonly list: "alone" | "addressed" | "chained" | "ipam";
  readonly keys?: (plexus: Installation) => Keys;
  readonly grant: (plexus: Installation) => Keys;
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

const drafts: Readonly<Record<string, Draft>> = {
  bandwidth: {
    list: "chained",
    requires: [trafficControl],
    keys: () => ({ ingressRate: 8_000_000, ingressBurst: 800_000, egressRate: 8_000_000, egressBurst: 800_000 }),
    grant: () => ({ shaping: {} }),
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

/** Reference plugins without a row, and why. */
export const unmeasuredPlugins: Readonly<Record<string, string>> = {
  dhcp: "most of its time is the DHCP server's",
};

function measured([type, draft]: readonly [string, Draft]): MeasuredDelegate {
  const { list, keys = () => ({}), grant, runtimeConfig, ...more } = draft;
  const others = { alone: [], addressed: [], chained: ["bridge", "static"], ipam: ["bridge"] }[list];
  return {
    ...more,
    type,
    types: [...new Set([type, ...others, ...(list === "addressed" ? ["host-local"] : [])])],
    list(plexus) {
      const step = { type, ...keys(plexus) };
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
        [type]: grant(plexus),
      };
      return { plugins, others, grants, ...(runtimeConfig === undefined ? {} : { runtimeConfig }) };
    },
  };
}

/** The reference plugins that a row measures. */
export const measuredDelegates: readonly MeasuredDelegate[] = Object.entries(drafts).map(measured);
