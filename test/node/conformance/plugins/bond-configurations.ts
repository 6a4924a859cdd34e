// Configurations of the delegate bond: each key, members of the pod and of the node, and refusals. The prefix MASTER becomes `n` (native) or `w` (WASM),
// so that each half has separate devices on the node.

import type { Configuration } from "./side-by-side.ts";

type Step = Readonly<Record<string, unknown>>;

/** The members of each pod, and the devices of each half on the node by the part of their name after MASTER. */
export const members = ["m0", "m1"] as const;
export const devices = ["dev0", "dev1"] as const;

const named = (names: readonly string[]): readonly object[] => names.map((name) => ({ name }));
const inPod: Step = { mode: "active-backup", miimon: "100", linksInContainer: true, links: named(members) };
const ipam = (ranges: readonly object[], routes: readonly object[] = []): object => ({
  ipam: { type: "ipam-host-local", ranges: ranges.map((range) => [range]), routes },
});
const v4 = { subnet: "10.76.0.0/24" };
const v6 = { subnet: "fd00:76::/64" };
const dns = { nameservers: ["10.96.0.10"], search: ["svc.cluster.local"] };

type Draft = Omit<Configuration, "ifname" | "pod">;

// Each has a pod of its own, so that the members' settings can be compared after the DEL.
const accepted: readonly Draft[] = [
  { name: "active-backup without addresses", step: inPod },
  { name: "both families, a route, dns", step: { ...inPod, dns, ...ipam([v4, v6], [{ dst: "172.16.0.0/16" }]) } },
  { name: "the MAC of the active member", step: { ...inPod, failOverMac: 1, mtu: 1400 } },
  { name: "the MAC follows", step: { ...inPod, failOverMac: 2, miimon: "0" } },
  { name: "every flag of balance-tlb", step: { ...inPod, mode: "balance-tlb", allSlavesActive: 1, tlbDynamicLb: 0 } },
  { name: "balance-xor with a hash", step: { ...inPod, mode: "balance-xor", xmitHashPolicy: "layer3+4", allSlavesActive: 0 } },
  { name: "802.3ad with a hash", step: { ...inPod, mode: "802.3ad", xmitHashPolicy: "encap2+3" } },
  { name: "balance-rr as 0.3.1", cniVersion: "0.3.1", step: { ...inPod, mode: "balance-rr", ...ipam([v4]) } },
  { name: "broadcast as 0.2.0", cniVersion: "0.2.0", step: { ...inPod, mode: "broadcast", ...ipam([v4]) } },
  { name: "keys in another case", step: { MODE: "balance-alb", MiiMon: "50", LinksInContainer: true, Links: named(members) } },
];

/** A bond over devices of the node, in a pod of its own. */
export const overDevices: Draft = {
  name: "devices of the node",
  step: { mode: "active-backup", miimon: "100", links: named(devices.map((name) => `MASTER${name}`)), ...ipam([v4]) },
};

const refused: readonly Draft[] = [
  { name: "refused: an unknown mode", step: { ...inPod, mode: "balanced" } },
  { name: "refused: no mode", step: { miimon: "100", linksInContainer: true, links: named(members) } },
  { name: "refused: miimon is no number", step: { ...inPod, miimon: "often" } },
  { name: "refused: no miimon", step: { mode: "active-backup", linksInContainer: true, links: named(members) } },
  { name: "refused: one member", step: { ...inPod, links: named(["m0"]) } },
  { name: "refused: a member without a name", step: { ...inPod, links: [{ name: "m0" }, { title: "m1" }] } },
  { name: "refused: a missing member", step: { ...inPod, links: named(["m0", "m7"]) } },
  { name: "refused: failOverMac 3", step: { ...inPod, failOverMac: 3 } },
  { name: "refused: allSlavesActive 2", step: { ...inPod, allSlavesActive: 2 } },
  { name: "refused: tlbDynamicLb of another mode", step: { ...inPod, tlbDynamicLb: 1 } },
  { name: "refused: tlbDynamicLb 2", step: { ...inPod, mode: "balance-alb", tlbDynamicLb: 2 } },
  { name: "refused: an unknown hash", step: { ...inPod, xmitHashPolicy: "layer4" } },
  { name: "refused: an MTU below IPv4's", step: { ...inPod, mtu: 67 } },
  { name: "refused: an MTU over the members'", step: { ...inPod, mtu: 1501 } },
  { name: "refused: bond as IPAM plugin", step: { ...inPod, ipam: { type: "bond" } } },
  { name: "refused: the name of the loopback", step: inPod },
];

/** The configurations with a pod for each of the accepted ones, and one more for all refusals. */
export const configurations: readonly Configuration[] = [
  ...accepted.map((draft, pod) => ({ ...draft, ifname: "bond0", pod })),
  ...refused.map((draft, at) => ({
    ...draft,
    ifname: draft.name.endsWith("loopback") ? "lo" : `bond${at}`,
    pod: accepted.length + 1,
  })),
];
export const deviceConfiguration: Configuration = { ...overDevices, ifname: "bond0", pod: accepted.length };
export const pods = accepted.length + 2;
