// Generated valid configurations of the plugin bridge, and configurations that the reference refuses.

import * as fc from "fast-check";

/** A configuration and the state before its ADD. */
export interface Scenario {
  /** Members of the plugin's configuration without `type` and `ipam`. */
  readonly bridge: Readonly<Record<string, unknown>>;
  /** Members of `ipam` without `type` and `dataDir`. Undefined for a layer 2 network. */
  readonly ipam: Readonly<Record<string, unknown>> | undefined;
  readonly cniVersion: string;
  /** CNI_ARGS. */
  readonly args: string | undefined;
  /** A shell command on the node before the ADD. */
  readonly before: string;
  /** A shell command in the pod before the ADD. */
  readonly inPod: string;
}

type Members = Readonly<Record<string, unknown>>;
const v4 = { subnet: "10.1.0.0/24" };
const v6 = { subnet: "fd00:1::/64" };

const ranges = fc.constantFrom<readonly (readonly Members[])[] | undefined>(
  [[v4]],
  [[v4]],
  [[v6]],
  [[v4], [v6]],
  [[v6], [v4]],
  [[{ subnet: "10.1.0.128/25", rangeStart: "10.1.0.140", rangeEnd: "10.1.0.150", gateway: "10.1.0.254" }]],
  [[v4], [v6], [{ subnet: "fd00:2::/64" }]],
  undefined,
);

const routesOf = (rangeSets: readonly (readonly Members[])[]): fc.Arbitrary<readonly Members[]> => {
  const has4 = rangeSets.some((set) => set.some(({ subnet }) => String(subnet).includes(".")));
  const has6 = rangeSets.some((set) => set.some(({ subnet }) => String(subnet).includes(":")));
  const choices: Members[] = [];
  const usesDefaultGateway = rangeSets[0]?.[0]?.["gateway"] === undefined;
  if (has4) {
    choices.push({ dst: "192.168.0.0/16" }, { dst: "172.16.0.0/12" });
    choices.push(usesDefaultGateway ? { dst: "10.77.0.0/16", gw: "10.1.0.9" } : { dst: "10.77.0.0/16", gw: "10.1.0.200" });
    choices.push(usesDefaultGateway ? { dst: "0.0.0.0/0", gw: "10.1.0.1" } : { dst: "0.0.0.0/0", gw: "10.1.0.254" });
  }
  if (has6) choices.push({ dst: "fd00:99::/48" }, { dst: "2001:db8::/32", gw: "fd00:1::9" }, { dst: "::/0", gw: "fd00:1::1" });
  return fc.subarray(choices, { maxLength: 3 });
};

const gateway = fc.constantFrom<Members>(
  {},
  { isGateway: true },
  { isGateway: true },
  { isDefaultGateway: true },
  { isGateway: true, isDefaultGateway: false },
);
const link = fc.constantFrom<Members>({}, {}, { mtu: 1400 }, { mtu: 9000 }, { mtu: 0 });
const port = fc.constantFrom<Members>(
  {},
  {},
  { hairpinMode: true },
  { promiscMode: true },
  { hairpinMode: false, promiscMode: false },
);
const mac = fc.constantFrom<{ readonly members: Members; readonly args?: string }>(
  { members: {} },
  { members: {} },
  { members: { runtimeConfig: { mac: "02:11:22:33:44:55" } } },
  { members: { args: { cni: { mac: "02-11-22-33-44-66" } } } },
  { members: {}, args: "IgnoreUnknown=1;K8S_POD_NAME=a;MAC=02:11:22:33:44:77" },
  {
    members: { runtimeConfig: { mac: "02:11:22:33:44:55" }, args: { cni: { mac: "02:11:22:33:44:66" } } },
    args: "MAC=02:11:22:33:44:77;IgnoreUnknown=1",
  },
);

const make = "ip link add br7 type bridge && ip link set br7 up";
const bridge = fc.constantFrom<{ readonly before: string; readonly members: Members }>(
  { before: "", members: {} },
  { before: "", members: {} },
  { before: make, members: {} },
  { before: "ip link add br7 mtu 1300 type bridge", members: {} },
  { before: `${make} && ip addr add 10.1.0.1/24 dev br7 && ip addr add fd00:1::1/64 dev br7 nodad`, members: {} },
  { before: `${make} && ip addr add 10.9.0.1/24 dev br7`, members: { forceAddress: true } },
  { before: `${make} && ip addr add fd00:9::1/64 dev br7 nodad`, members: {} },
  { before: `${make} && ip addr add fd00:1::7/64 dev br7 nodad`, members: { forceAddress: true } },
  { before: `${make} && ip addr add 10.9.0.1/24 dev br7 && ip addr add 10.8.0.1/24 dev br7`, members: { forceAddress: true } },
  { before: "", members: { forceAddress: true } },
);

const version = fc.constantFrom("1.0.0", "1.0.0", "0.4.0", "0.3.1", "0.3.0");

/** Valid configurations. */
export const scenarios: fc.Arbitrary<Scenario> = fc
  .record({ ranges, gateway, link, port, mac, bridge, version })
  .chain((chosen) => {
    const rangeSets = chosen.ranges;
    const routes = rangeSets === undefined ? fc.constant([]) : routesOf(rangeSets);
    return routes.map((list) => ({ ...chosen, routes: list }));
  })
  .map(
    ({
      ranges: rangeSets,
      routes,
      gateway: gw,
      link: linkMembers,
      port: portMembers,
      mac: macChoice,
      bridge: existing,
      version: cniVersion,
    }) => ({
      bridge: { bridge: "br7", ...gw, ...linkMembers, ...portMembers, ...macChoice.members, ...existing.members },
      ipam: rangeSets === undefined ? undefined : { ranges: rangeSets, ...(routes.length === 0 ? {} : { routes }) },
      cniVersion,
      args: macChoice.args,
      before: existing.before,
      inPod: "",
    }),
  );

const plain: Scenario = {
  bridge: { bridge: "br7" },
  ipam: { ranges: [[v4]] },
  cniVersion: "1.0.0",
  args: undefined,
  before: "",
  inPod: "",
};

/** Configurations that the reference refuses. `netns` replaces the pod's namespace. */
export const failing: readonly { readonly problem: string; readonly scenario: Scenario; readonly netns?: string }[] = [
  {
    problem: "hairpinMode with promiscMode",
    scenario: { ...plain, bridge: { bridge: "br7", hairpinMode: true, promiscMode: true } },
  },
  { problem: "a VLAN beyond 4094", scenario: { ...plain, bridge: { bridge: "br7", vlan: 4095 } } },
  { problem: "a negative VLAN", scenario: { ...plain, bridge: { bridge: "br7", vlan: -1 } } },
  { problem: "a VLAN that is a string", scenario: { ...plain, bridge: { bridge: "br7", vlan: "100" } } },
  { problem: "a boolean that is a string", scenario: { ...plain, bridge: { bridge: "br7", isGateway: "yes" } } },
  { problem: "an mtu that is not a whole number", scenario: { ...plain, bridge: { bridge: "br7", mtu: 1400.5 } } },
  { problem: "an mtu below a veth's minimum", scenario: { ...plain, bridge: { bridge: "br7", mtu: 10 } } },
  { problem: "an invalid MAC", scenario: { ...plain, bridge: { bridge: "br7", runtimeConfig: { mac: "02:11:22" } } } },
  { problem: "a multicast MAC", scenario: { ...plain, bridge: { bridge: "br7", runtimeConfig: { mac: "03:11:22:33:44:55" } } } },
  { problem: "unknown CNI_ARGS", scenario: { ...plain, args: "NOTHING=known" } },
  {
    problem: "a link with the bridge's name that is not a bridge",
    scenario: { ...plain, before: "ip link add br7 type veth peer name other7" },
  },
  { problem: "an existing interface of the pod", scenario: { ...plain, inPod: "ip link add eth0 type bridge" } },
  {
    problem: "a bridge with another IPv4 address",
    scenario: { ...plain, bridge: { bridge: "br7", isGateway: true }, before: `${make} && ip addr add 10.9.0.1/24 dev br7` },
  },
  {
    problem: "a bridge with an IPv6 address of the same network",
    scenario: {
      ...plain,
      bridge: { bridge: "br7", isGateway: true },
      ipam: { ranges: [[v6]] },
      before: `${make} && ip addr add fd00:1::7/64 dev br7 nodad`,
    },
  },
  {
    problem: "two IPv4 gateways",
    scenario: { ...plain, bridge: { bridge: "br7", isGateway: true }, ipam: { ranges: [[v4], [{ subnet: "10.2.0.0/24" }]] } },
  },
  {
    problem: "a route with an unreachable gateway",
    scenario: { ...plain, ipam: { ranges: [[v4]], routes: [{ dst: "192.168.0.0/16", gw: "10.55.0.1" }] } },
  },
  { problem: "an absent namespace", scenario: plain, netns: "/run/netns/gone" },
  { problem: "an address outside of the IPAM ranges", scenario: { ...plain, args: "IgnoreUnknown=1;IP=10.99.0.5" } },
  { problem: "ranges without a subnet", scenario: { ...plain, ipam: { ranges: [[{}]] } } },
  { problem: "a too long bridge name", scenario: { ...plain, bridge: { bridge: "a-bridge-with-a-name-too-long" } } },
];
