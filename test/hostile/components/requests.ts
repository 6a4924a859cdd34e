// A valid request for each verb and capabilities with fixed answers, for tests of a guest's behaviour.

import type { SyncImports, Verb } from "../../../host/sandbox/runner.ts";
import type {
  DhcpLease,
  LinksLink,
  OvsPortState,
  RoutingRule,
  VerbTypes,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";

const network = { cniVersion: "1.1.0", name: "net", config: '{"type":"fixture"}' };
const attachment = { containerId: "c1", netns: "/run/netns/c1", ifname: "eth0", args: [{ key: "K8S_POD_NAME", value: "pod" }] };

const call = { remainingMs: 15_000, granted: [] };

export const plainRequests: { readonly [V in Verb]: VerbTypes[V]["request"] } = {
  add: { call, network, attachment },
  del: { call, network, attachment },
  check: { call, network, attachment },
  gc: { call, network, valid: [{ containerId: "c1", ifname: "eth0" }] },
  status: { call, network },
};

/** A link with most of the record's optional fields. */
const podLink: LinksLink = {
  place: "pod",
  name: "eth0",
  index: 2,
  kind: "veth",
  mac: "02:00:00:00:00:01",
  mtu: 1500,
  up: true,
  running: true,
  promiscuous: false,
  allMulticast: true,
  txQueueLength: 1000,
  alternativeNames: ["alt0", "ålt1"],
  peer: "veth1",
  port: { hairpin: true, isolated: false },
  portVlans: [{ first: 1, last: 1, pvid: true, untagged: true }],
  addresses: [{ address: "10.1.0.2/24", tentative: false, dadFailed: false }],
  members: ["eth1", "eth2"],
  carrier: true,
  peerIndex: 7,
  device: { driver: "virtio_net", pciAddress: "0000:00:05.0", speed: 25_000, rdmaDevices: [] },
};

const ovsPort: OvsPortState = {
  bridge: "br-int",
  link: "veth1",
  interfaceId: "6f0c3f2e-7f0b-4c58-9a53-7d1c6f0f7a10",
  mac: "02:00:00:00:00:01",
  number: 3,
  linkUp: true,
  installed: false,
  trunks: [{ first: 10, last: 19 }],
};

const policyRule: RoutingRule = {
  family: "ipv4",
  priority: 1000,
  source: "10.1.0.2/32",
  incomingLink: "eth0",
  mark: { value: 1, mask: 0xffff_ffff },
  table: 100,
};

const dhcpLease: DhcpLease = {
  address: "10.1.0.9/24",
  gateway: "10.1.0.1",
  routes: [{ dst: "10.9.0.0/16", gw: "10.1.0.1" }],
  dns: { nameservers: ["10.1.0.53"], search: [], options: [] },
  options: [{ number: 3, value: [10, 1, 0, 1] }],
};

/** Capabilities that succeed, and their recorded calls. */
export function recordingImports(): { readonly imports: SyncImports; readonly calls: unknown[][] } {
  const calls: unknown[][] = [];
  const record = <T>(name: string, args: readonly unknown[], answer: T): T => {
    calls.push([name, ...args]);
    return answer;
  };
  const imports: SyncImports = {
    log: { write: (...args) => record("log.write", args, undefined) },
    leases: {
      reserve: (...args) => record("leases.reserve", args, { ok: true }),
      reserveNext: (...args) =>
        record("leases.reserveNext", args, { ok: { address: args[1][0]?.first ?? "", heldBefore: false } }),
      held: (...args) => record("leases.held", args, { ok: ["10.1.0.2", "fd00::2"] }),
      release: (...args) => record("leases.release", args, { ok: 2 }),
      retain: (...args) => record("leases.retain", args, { ok: 0xffff_ffff }),
      count: (...args) => record("leases.count", args, { ok: args[2] }),
      probe: (...args) => record("leases.probe", args, { ok: undefined }),
    },
    state: {
      load: (...args) => record("state.load", args, { ok: "kept" }),
      save: (...args) => record("state.save", args, { ok: undefined }),
      remove: (...args) => record("state.remove", args, { ok: undefined }),
    },
    delegation: {
      add: (...args) => record("delegation.add", args, { ok: { interfaces: [], ips: [], routes: [] } }),
      del: (...args) => record("delegation.del", args, { ok: undefined }),
      check: (...args) => record("delegation.check", args, { ok: undefined }),
      gc: (...args) => record("delegation.gc", args, { ok: undefined }),
      status: (...args) => record("delegation.status", args, { ok: undefined }),
    },
    links: {
      apply: (...args) =>
        record("links.apply", args, { ok: [podLink, { ...podLink, place: "host", name: "veth1", peer: "eth0" }] }),
      read: (...args) => record("links.read", args, { ok: [podLink] }),
      routes: (...args) => record("links.routes", args, { ok: [{ dst: "0.0.0.0/0", gw: "10.1.0.1", priority: 5 }] }),
      vrfs: (...args) => record("links.vrfs", args, { ok: [{ name: "blue", table: 0xffff_ffff }] }),
      defaultLink: (...args) => record("links.defaultLink", args, { ok: "eth1" }),
      findDevice: (...args) =>
        record("links.findDevice", args, {
          ok: {
            link: "eth5",
            mac: "02:00:00:00:00:05",
            facts: { pciAddress: "0000:3b:02.1", numaNode: 1, rdmaDevices: ["mlx5_0"] },
          },
        }),
      retainDevices: (...args) => record("links.retainDevices", args, { ok: 2 }),
      neighbours: (...args) => record("links.neighbours", args, { ok: [{ address: "10.1.0.9", proxy: true }] }),
    },
    sysctl: {
      read: (...args) => record("sysctl.read", args, { ok: args[0].map(() => "1") }),
      write: (...args) => record("sysctl.write", args, { ok: args[0].map(() => "0") }),
    },
    firewall: {
      replace: (...args) => record("firewall.replace", args, { ok: undefined }),
      check: (...args) => record("firewall.check", args, { ok: true }),
      replaceRestricted: (...args) => record("firewall.replaceRestricted", args, { ok: undefined }),
      checkRestricted: (...args) => record("firewall.checkRestricted", args, { ok: true }),
      guardFrames: (...args) => record("firewall.guardFrames", args, { ok: undefined }),
      framesGuarded: (...args) => record("firewall.framesGuarded", args, { ok: false }),
      remove: (...args) => record("firewall.remove", args, { ok: undefined }),
      retain: (...args) => record("firewall.retain", args, { ok: 3 }),
      probe: (...args) => record("firewall.probe", args, { err: { code: 7, msg: "no nftables here" } }),
    },
    ovs: {
      addPort: (...args) => record("ovs.addPort", args, { ok: undefined }),
      settle: (...args) => record("ovs.settle", args, { ok: ovsPort }),
      port: (...args) => record("ovs.port", args, { ok: ovsPort }),
      ports: (...args) => record("ovs.ports", args, { ok: [ovsPort] }),
      removePort: (...args) => record("ovs.removePort", args, { ok: true }),
      removePorts: (...args) => record("ovs.removePorts", args, { ok: 1 }),
      retain: (...args) => record("ovs.retain", args, { ok: 2 }),
      probe: (...args) => record("ovs.probe", args, { err: { code: 11, msg: "no Open vSwitch here" } }),
    },
    routing: {
      addRules: (...args) => record("routing.addRules", args, { ok: undefined }),
      deleteRules: (...args) => record("routing.deleteRules", args, { ok: undefined }),
      listRules: (...args) => record("routing.listRules", args, { ok: [policyRule] }),
      routes: (...args) =>
        record("routing.routes", args, { ok: [{ dst: "10.8.0.0/16", link: "eth0", source: "10.1.0.2", table: args[1] }] }),
      freeTables: (...args) => record("routing.freeTables", args, { ok: [100, 101] }),
    },
    announce: {
      send: (...args) => record("announce.send", args, { ok: undefined }),
      probe: (...args) => record("announce.probe", args, { ok: [{ address: "10.1.0.2", mac: "02:00:00:00:00:02" }] }),
    },
    shaping: {
      nodeLink: (...args) => record("shaping.nodeLink", args, { ok: "veth1" }),
      replace: (...args) => record("shaping.replace", args, { ok: { name: "bwp1", mac: "02:00:00:00:00:03" } }),
      difference: (...args) => record("shaping.difference", args, { ok: undefined }),
      usage: (...args) => record("shaping.usage", args, { ok: { ingress: { bytes: 2 ** 40, packets: 7, drops: 0 } } }),
      remove: (...args) => record("shaping.remove", args, { ok: undefined }),
      retain: (...args) => record("shaping.retain", args, { ok: 2 }),
    },
    filter: {
      replace: (...args) => record("filter.replace", args, { ok: undefined }),
      difference: (...args) => record("filter.difference", args, { ok: "a rule is missing" }),
      remove: (...args) => record("filter.remove", args, { ok: undefined }),
      retain: (...args) => record("filter.retain", args, { ok: 3 }),
      probe: (...args) => record("filter.probe", args, { err: { code: 5, msg: "no nftables here" } }),
    },
    flows: { forget: (...args) => record("flows.forget", args, { ok: 4 }) },
    dhcp: {
      acquire: (...args) => record("dhcp.acquire", args, { ok: dhcpLease }),
      held: (...args) => record("dhcp.held", args, { ok: undefined }),
      release: (...args) => record("dhcp.release", args, { ok: undefined }),
      retain: (...args) => record("dhcp.retain", args, { ok: 1 }),
      probe: (...args) => record("dhcp.probe", args, { err: { code: 50, msg: "no daemon here" } }),
    },
    resolver: {
      read: (...args) => record("resolver.read", args, { ok: { nameservers: ["10.0.0.53"], search: [], options: [] } }),
    },
  };
  return { imports, calls };
}
