// Configurations of the main plugins vlan, ipvlan, dummy and tap: each key, both families, old versions, and refusals. MASTER becomes `n` (native)
// or `w` (WASM), so that each half has separate lower links.

import { existsSync } from "node:fs";
import type { Configuration } from "./side-by-side.ts";

/** Pods of each half. The last one has duplicate address detection. */
export const mainPods = 3;
/** Lower links of each half on the node, by the part of their name after MASTER. The ipvlans of one link share its mode. */
export const lowerLinks: readonly string[] = ["up0", "up1", "up2"];
/** A veth in each pod that serves as a lower link, and a bridge. */
export const podLink = "inpod0";
export const podBridge = "podbr0";

type Step = Readonly<Record<string, unknown>>;
type Draft = Omit<Configuration, "ifname" | "pod"> & { readonly pod?: number };

/** A plugin's configurations. */
export interface MainPlugin {
  readonly type: "vlan" | "ipvlan" | "dummy" | "tap";
  readonly configurations: readonly Configuration[];
}

const dns = { nameservers: ["10.96.0.10"], domain: "cluster.local", search: ["svc.cluster.local"], options: ["ndots:5"] };
const v4 = (number: number): object => ({ subnet: `10.77.${number}.0/24` });
const v6 = (number: number): object => ({ subnet: `fd00:77:${number}::/64` });

function ipam(number: number, families: "v4" | "v6" | "both", routes: readonly object[] = []): object {
  const ranges = [...(families === "v6" ? [] : [[v4(number)]]), ...(families === "v4" ? [] : [[v6(number)]])];
  return { type: "ipam-host-local", ranges, routes };
}

const ownRoutes = (n: number): readonly object[] => [{ dst: `172.17.${n}.0/24`, gw: `10.77.${n}.9` }, { dst: `fd01:${n}::/64` }];

/** The addresses, routes and versions that every plugin with IPAM has. `step`: the other keys. */
function addressed(step: (number: number) => Step): readonly ((number: number) => Draft)[] {
  return [
    (n) => ({ name: "both families", step: { ...step(n), dns, ipam: ipam(n, "both", ownRoutes(n)) } }),
    (n) => ({
      name: "IPv6 with duplicate address detection",
      pod: mainPods - 1,
      step: { ...step(n), ipam: ipam(n, "v6", [{ dst: `fd02:${n}::/64` }]) },
    }),
    (n) => ({ name: "as 0.2.0", cniVersion: "0.2.0", step: { ...step(n), dns, ipam: ipam(n, "both") } }),
    (n) => ({ name: "as 0.4.0", cniVersion: "0.4.0", step: { ...step(n), ipam: ipam(n, "v4", [{ dst: `172.18.${n}.0/24` }]) } }),
    (n) => ({ name: "keys in another case", step: { ...capitalized(step(n)), IPAM: ipam(n, "v4") } }),
    (n) => ({ name: "refused: an ipam without ranges", step: { ...step(n), ipam: { type: "ipam-host-local", ranges: [] } } }),
    (n) => ({ name: "refused: an ipam plugin that is not installed", step: { ...step(n), ipam: { type: "no-such-ipam" } } }),
  ];
}

/** The keys with a capital. `MASTER` as a key would be replaced like the prefix. */
function capitalized(step: Step): Step {
  return Object.fromEntries(Object.entries(step).map(([key, value]) => [`${key.charAt(0).toUpperCase()}${key.slice(1)}`, value]));
}

// A link has one VLAN of a number, whatever pods it is in.
const vlan: readonly ((number: number) => Draft)[] = [
  ...addressed((n) => ({ master: "MASTERup0", vlanId: 100 + n })),
  (n) => ({ name: "an MTU", step: { master: "MASTERup1", vlanId: 4094, mtu: 1400, ipam: ipam(n, "v4") } }),
  (n) => ({ name: "VLAN 0", step: { master: "MASTERup1", ipam: ipam(n, "v4") } }),
  (n) => ({ name: "in the pod", step: { master: podLink, vlanId: 7, linkInContainer: true, ipam: ipam(n, "v4") } }),
  (n) => ({ name: "refused: no master", step: { vlanId: 5, ipam: ipam(n, "v4") } }),
  (n) => ({ name: "refused: no ipam", step: { master: "MASTERup2", vlanId: 900 + n } }),
  (n) => ({ name: "refused: VLAN 4095", step: { master: "MASTERup2", vlanId: 4095, ipam: ipam(n, "v4") } }),
  (n) => ({
    name: "refused: an MTU over the master's",
    step: { master: "MASTERup2", vlanId: 5, mtu: 1501, ipam: ipam(n, "v4") },
  }),
  (n) => ({ name: "refused: a missing master", step: { master: "MASTERnone", vlanId: 5, ipam: ipam(n, "v4") } }),
];

const before = (number: number): object => ({
  interfaces: [{ name: "MASTERup0" }],
  ips: [{ version: "4", address: `10.77.${number}.7/24`, gateway: `10.77.${number}.1`, interface: 0 }],
  routes: [{ dst: `172.19.${number}.0/24` }],
});

const ipvlan: readonly ((number: number) => Draft)[] = [
  ...addressed(() => ({ master: "MASTERup0" })),
  (n) => ({ name: "mode l3, an MTU", step: { master: "MASTERup1", mode: "l3", mtu: 1400, ipam: ipam(n, "both") } }),
  (n) => ({ name: "mode l3s", step: { master: "MASTERup2", mode: "l3s", ipam: ipam(n, "v4") } }),
  (n) => ({ name: "in the pod", step: { master: podLink, mode: "l2", linkInContainer: true, ipam: ipam(n, "v4") } }),
  (n) => ({ name: "in a chain", before: before(n), step: {} }),
  (n) => ({ name: "in a chain with ipam", before: before(n), step: { ipam: ipam(n, "v4") } }),
  (n) => ({ name: "refused: an unknown mode", step: { master: "MASTERup0", mode: "bridge", ipam: ipam(n, "v4") } }),
  (n) => ({ name: "refused: a missing master", step: { master: "MASTERnone", ipam: ipam(n, "v4") } }),
  () => ({ name: "refused: no ipam", step: { master: "MASTERup0" } }),
];

const dummy: readonly ((number: number) => Draft)[] = [...addressed(() => ({})), () => ({ name: "refused: no ipam", step: {} })];

const tap: readonly ((number: number) => Draft)[] = [
  ...addressed(() => ({})),
  () => ({ name: "no ipam", step: { dns } }),
  () => ({ name: "several queues, an MTU and a MAC", step: { multiQueue: true, mtu: 1400, mac: "c2:11:22:33:44:55" } }),
  () => ({ name: "an owner", step: { owner: 0 } }),
  (n) => ({ name: "an owner and a group", step: { owner: 0, group: 0, ipam: ipam(n, "v4") } }),
  () => ({ name: "a bridge of the pod", step: { bridge: podBridge } }),
  () => ({ name: "MAC of CNI_ARGS", step: { mac: "c2:11:22:33:44:01" }, args: "IgnoreUnknown=1;MAC=c2:11:22:33:66:02" }),
  () => ({
    name: "the runtime's MAC",
    step: { mac: "c2:11:22:33:44:01", capabilities: { mac: true } },
    args: "IgnoreUnknown=1;MAC=c2:11:22:33:66:03",
    runtimeConfig: { mac: "c2:11:22:33:77:04" },
  }),
  () => ({ name: "refused: a bridge that the pod lacks", step: { bridge: "nobr0" } }),
  // The reference cannot write /proc/self/attr/exec then.
  ...(existsSync("/sys/fs/selinux/enforce")
    ? []
    : [
        () => ({
          name: "refused: a context on a kernel without SELinux",
          step: { selinuxContext: "system_u:system_r:container_t:s0" },
        }),
      ]),
  () => ({ name: "refused: a broken MAC", step: { mac: "c2:11:22" } }),
  () => ({ name: "refused: a negative MTU", step: { mtu: -1 } }),
  () => ({ name: "refused: unknown CNI_ARGS", step: {}, args: "COLOUR=red" }),
];

/** The plugins, each with its configurations. */
export const mainPlugins: readonly MainPlugin[] = Object.entries({ vlan, ipvlan, dummy, tap }).map(([type, drafts]) => ({
  type: type as MainPlugin["type"],
  configurations: drafts.map((draft, number) => {
    const made = draft(number);
    return { pod: number % (mainPods - 1), ifname: `m${number}`, ...made };
  }),
}));
