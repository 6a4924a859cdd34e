// A plain request for each verb, and capabilities that answer plainly, for tests that only care what a guest does.

import type { SyncImports, Verb } from "../../../host/sandbox/runner.ts";
import type { LinksLink, VerbTypes } from "../../../host/sandbox/abi/generated/delegate-0.1.0.ts";

const network = { cniVersion: "1.1.0", name: "net", config: '{"type":"fixture"}' };
const attachment = { containerId: "c1", netns: "/run/netns/c1", ifname: "eth0", args: [{ key: "K8S_POD_NAME", value: "pod" }] };

export const plainRequests: { readonly [V in Verb]: VerbTypes[V]["request"] } = {
  add: { network, attachment },
  del: { network, attachment },
  check: { network, attachment },
  gc: { network, valid: [{ containerId: "c1", ifname: "eth0" }] },
  status: network,
};

/** With most of what a link can have. */
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
};

/** Capabilities that grant what is asked, and the calls that they saw. */
export function recordingImports(): { readonly imports: SyncImports; readonly calls: unknown[][] } {
  const calls: unknown[][] = [];
  const saw = <T>(name: string, args: readonly unknown[], answer: T): T => {
    calls.push([name, ...args]);
    return answer;
  };
  const imports: SyncImports = {
    log: { write: (...args) => saw("log.write", args, undefined) },
    leases: {
      reserve: (...args) => saw("leases.reserve", args, { ok: true }),
      reserveNext: (...args) => saw("leases.reserveNext", args, { ok: { address: args[1][0]?.first ?? "", heldBefore: false } }),
      held: (...args) => saw("leases.held", args, { ok: ["10.1.0.2", "fd00::2"] }),
      release: (...args) => saw("leases.release", args, { ok: 2 }),
      retain: (...args) => saw("leases.retain", args, { ok: 0xffff_ffff }),
      count: (...args) => saw("leases.count", args, { ok: args[2] }),
      probe: (...args) => saw("leases.probe", args, { ok: undefined }),
    },
    state: {
      load: (...args) => saw("state.load", args, { ok: "kept" }),
      save: (...args) => saw("state.save", args, { ok: undefined }),
      remove: (...args) => saw("state.remove", args, { ok: undefined }),
    },
    delegation: {
      add: (...args) => saw("delegation.add", args, { ok: { interfaces: [], ips: [], routes: [] } }),
      del: (...args) => saw("delegation.del", args, { ok: undefined }),
      check: (...args) => saw("delegation.check", args, { ok: undefined }),
      gc: (...args) => saw("delegation.gc", args, { ok: undefined }),
      status: (...args) => saw("delegation.status", args, { ok: undefined }),
    },
    links: {
      apply: (...args) => saw("links.apply", args, { ok: [podLink, { ...podLink, place: "host", name: "veth1", peer: "eth0" }] }),
      read: (...args) => saw("links.read", args, { ok: [podLink] }),
      routes: (...args) => saw("links.routes", args, { ok: [{ dst: "0.0.0.0/0", gw: "10.1.0.1", priority: 5 }] }),
      defaultLink: (...args) => saw("links.defaultLink", args, { ok: "eth1" }),
      neighbours: (...args) => saw("links.neighbours", args, { ok: [{ address: "10.1.0.9", proxy: true }] }),
    },
    sysctl: {
      read: (...args) => saw("sysctl.read", args, { ok: args[0].map(() => "1") }),
      write: (...args) => saw("sysctl.write", args, { ok: args[0].map(() => "0") }),
    },
    firewall: {
      replace: (...args) => saw("firewall.replace", args, { ok: undefined }),
      check: (...args) => saw("firewall.check", args, { ok: true }),
      guardFrames: (...args) => saw("firewall.guardFrames", args, { ok: undefined }),
      framesGuarded: (...args) => saw("firewall.framesGuarded", args, { ok: false }),
      remove: (...args) => saw("firewall.remove", args, { ok: undefined }),
      retain: (...args) => saw("firewall.retain", args, { ok: 3 }),
      probe: (...args) => saw("firewall.probe", args, { err: { code: 7, msg: "no nftables here" } }),
    },
    announce: { send: (...args) => saw("announce.send", args, { ok: undefined }) },
    resolver: { read: (...args) => saw("resolver.read", args, { ok: { nameservers: ["10.0.0.53"], search: [], options: [] } }) },
  };
  return { imports, calls };
}
