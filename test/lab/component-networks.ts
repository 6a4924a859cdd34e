// One network for each kind of component: its configuration, the links of the node that it needs, and a proof that a pod has it. component-grants.ts has the grants.

import { expect } from "vitest";

import { asked, type Attached, forwardRules, hasKind, ip, reaches, refused, run, served } from "./component-proofs.ts";
import { dhcpServer, startDhcpServer } from "./dhcp-server.ts";
import type { NamespaceCommands } from "./namespaces.ts";
import { command, linkType, type Requirement, tunDevice } from "./requires.ts";
import { trafficControl } from "./traffic-control.ts";

type Keys = Readonly<Record<string, unknown>>;

/** A network that shows one plugin type. */
export interface ComponentNetwork {
  /** The plugin type, which is also the network's name. */
  readonly type: string;
  readonly requires?: readonly Requirement[];
  readonly plugins: readonly Keys[];
  /** `runtimeConfig` of the call. */
  readonly runtimeConfig?: Keys;
  /** Makes the links of the node that the network needs, and answers their removal. */
  readonly prepare?: (node: NamespaceCommands) => Promise<() => Promise<void>>;
  /** Fails if the pod lacks what the plugin promises. */
  readonly prove: (attached: Attached) => void;
  /** Fails if the node keeps something after the DEL, besides links. */
  readonly proveGone?: (node: NamespaceCommands) => void;
}

/** Addresses 10.THIRD.0.2/24 of the pod, by the plugin `static`. */
const fixed = (third: number, more: Keys = {}): Keys => ({
  type: "static",
  addresses: [{ address: `10.${third}.0.2/24` }],
  ...more,
});
const bridge = (third: number, ipam: Keys = fixed(third)): Keys => ({
  type: "bridge",
  bridge: `br-kind${third}`,
  isGateway: true,
  ipam,
});
const withGateway = (third: number, more: Keys = {}): Keys => ({
  type: "static",
  addresses: [{ address: `10.${third}.0.2/24`, gateway: `10.${third}.0.1` }],
  ...more,
});

/** A list with a bridge first, which DEL keeps on purpose. */
const chained = (third: number, step: Keys, ipam: Keys = withGateway(third)) => ({
  requires: [linkType("bridge")],
  plugins: [bridge(third, ipam), step],
  // Without an attachment there is no bridge.
  prepare: async (node: NamespaceCommands) => async () => void node.exec(["ip", "link", "delete", `br-kind${third}`]),
});

/** A veth of the node that stands for its network: the other end has the address 10.THIRD.0.1/24. */
const lower =
  (name: string, third: number, ...further: readonly string[]) =>
  async (node: NamespaceCommands): Promise<() => Promise<void>> => {
    ip(node, `link add ${name} up type veth peer name ${name}-e`);
    ip(node, `link set ${name}-e up`);
    for (const each of further) ip(node, each);
    if (further.length === 0) ip(node, `address add 10.${third}.0.1/24 dev ${name}-e`);
    return async () => void ip(node, `link delete ${name}-e`);
  };

/** The networks, in the order in which a pod may have all of them. */
export const componentNetworks: readonly ComponentNetwork[] = [
  { type: "bridge", ...chained(41, {}), plugins: [bridge(41)], prove: reaches(41) },
  {
    type: "ptp",
    plugins: [{ type: "ptp", ipam: { type: "host-local", subnet: "10.42.0.0/24" } }],
    prove: ({ pod, ifname }) => {
      expect(pod.addresses()).toContainEqual(expect.objectContaining({ link: ifname }));
      expect(pod.ping("10.42.0.1")).toBe(true);
    },
  },
  {
    type: "macvlan",
    requires: [linkType("macvlan")],
    plugins: [{ type: "macvlan", master: "mv0", ipam: fixed(43) }],
    prepare: lower("mv0", 43),
    prove: reaches(43),
  },
  {
    type: "ipvlan",
    requires: [linkType("ipvlan")],
    plugins: [{ type: "ipvlan", master: "iv0", ipam: fixed(44) }],
    prepare: lower("iv0", 44),
    prove: reaches(44),
  },
  {
    type: "vlan",
    requires: [linkType("vlan")],
    plugins: [{ type: "vlan", master: "vl0", vlanId: 5, ipam: fixed(45) }],
    prepare: lower("vl0", 45, "link add vl0-t link vl0-e up type vlan id 5", "address add 10.45.0.1/24 dev vl0-t"),
    prove: reaches(45),
  },
  {
    type: "dummy",
    requires: [linkType("dummy")],
    plugins: [{ type: "dummy", ipam: fixed(46) }],
    prove: hasKind(46, "dummy"),
  },
  { type: "tap", requires: [tunDevice], plugins: [{ type: "tap", ipam: fixed(47) }], prove: hasKind(47, "tun") },
  {
    type: "host-device",
    plugins: [{ type: "host-device", device: "hd0", ipam: fixed(48) }],
    prepare: lower("hd0", 48),
    prove: ({ node, ...attached }) => {
      reaches(48)({ node, ...attached });
      expect(node.links().map(({ name }) => name)).not.toContain("hd0");
    },
    proveGone: (node) => expect(node.links().map(({ name }) => name)).toContain("hd0"),
  },
  {
    type: "bond",
    requires: [linkType("bond"), linkType("bridge")],
    plugins: [{ type: "bond", mode: "active-backup", miimon: "100", links: [{ name: "bm0" }, { name: "bm1" }], ipam: fixed(49) }],
    prepare: async (node) => {
      ip(node, "link add br-kind49 up type bridge");
      ip(node, "address add 10.49.0.1/24 dev br-kind49");
      for (const name of ["bm0", "bm1"]) {
        ip(node, `link add ${name} up type veth peer name ${name}-e`);
        ip(node, `link set ${name}-e up master br-kind49`);
      }
      return async () => {
        for (const name of ["br-kind49", "bm0-e", "bm1-e"]) ip(node, `link delete ${name}`);
      };
    },
    prove: reaches(49),
    proveGone: (node) => expect(node.links().map(({ name }) => name)).toEqual(expect.arrayContaining(["bm0", "bm1"])),
  },
  {
    type: "sbr",
    ...chained(50, { type: "sbr" }),
    prove: ({ pod }) => {
      expect(ip(pod, "rule")).toMatch(/from 10\.50\.0\.2 lookup 1\d\d/u);
      // The main table has no route: only packets from the address find theirs.
      expect(run(pod, process.execPath, "-e", refused)).toBe("ECONNREFUSED");
      expect(pod.routes().filter((dst) => dst.startsWith("10.50."))).toEqual([]);
    },
  },
  {
    type: "vrf",
    ...chained(51, { type: "vrf", vrfname: "blue" }),
    requires: [linkType("bridge"), linkType("vrf")],
    prove: ({ pod, ifname }) => expect(pod.links().find(({ name }) => name === ifname)?.master).toBe("blue"),
  },
  {
    type: "tuning",
    ...chained(52, { type: "tuning", mtu: 1400, sysctl: { "net.ipv4.conf.IFNAME.rp_filter": "2" } }),
    prove: (attached) => {
      const { pod, ifname } = attached;
      reaches(52)(attached);
      expect(pod.links().find(({ name }) => name === ifname)?.mtu).toBe(1400);
      expect(run(pod, "cat", `/proc/sys/net/ipv4/conf/${ifname}/rp_filter`)).toBe("2\n");
    },
  },
  {
    type: "bandwidth",
    ...chained(53, { type: "bandwidth", ingressRate: 8_000_000, ingressBurst: 800_000 }),
    requires: [linkType("bridge"), trafficControl],
    prove: (attached) => {
      reaches(53)(attached);
      expect(run(attached.node, "tc", "qdisc", "show")).toMatch(/qdisc tbf .* rate 8Mbit/u);
    },
    proveGone: (node) => expect(run(node, "tc", "qdisc", "show")).not.toContain("tbf"),
  },
  {
    type: "portmap",
    ...chained(54, { type: "portmap", capabilities: { portMappings: true } }),
    requires: [linkType("bridge"), command("nft", "-v")],
    runtimeConfig: { portMappings: [{ hostPort: 8081, containerPort: 80, protocol: "tcp" }] },
    prove: ({ node, pod }) => {
      // The server ends with its first connection.
      const serve = `timeout 60 ${process.execPath} -e '${served}' </dev/null >/dev/null 2>&1 &`;
      run(pod, "sh", "-c", serve);
      expect(run(node, process.execPath, "-e", asked)).toBe("mapped");
    },
    proveGone: (node) => expect(run(node, "nft", "list", "ruleset")).not.toContain("10.54.0.2"),
  },
  {
    type: "firewall",
    ...chained(55, { type: "firewall" }),
    requires: [linkType("bridge"), command("iptables-nft", "-V")],
    prove: (attached) => {
      reaches(55)(attached);
      expect(forwardRules(attached.node)).toContain("-s 10.55.0.2/32");
    },
    proveGone: (node) => expect(forwardRules(node)).not.toContain("10.55.0.2"),
  },
  {
    type: "route-override",
    ...chained(
      56,
      { type: "route-override", delroutes: [{ dst: "192.0.2.0/24" }], addroutes: [{ dst: "198.51.100.0/24", gw: "10.56.0.1" }] },
      withGateway(56, { routes: [{ dst: "192.0.2.0/24" }, { dst: "203.0.113.0/24" }] }),
    ),
    prove: ({ pod }) => {
      const routes = pod.routes();
      expect(routes).toEqual(expect.arrayContaining(["198.51.100.0/24", "203.0.113.0/24"]));
      expect(routes).not.toContain("192.0.2.0/24");
    },
  },
  {
    type: "dhcp",
    requires: [linkType("bridge"), dhcpServer],
    plugins: [{ type: "bridge", bridge: "br-kind60", ipam: { type: "dhcp" } }],
    prepare: async (node) => {
      const server = await startDhcpServer(node, "br-kind60");
      return async () => {
        await server.dispose();
        ip(node, "link delete br-kind60");
      };
    },
    prove: ({ pod, ifname }) => {
      const address = expect.stringMatching(/^10\.60\.0\.\d+\/24$/u);
      expect(pod.addresses()).toContainEqual(expect.objectContaining({ link: ifname, address }));
      expect(pod.ping("10.60.0.1")).toBe(true);
    },
  },
];
