// Configurations of the plugin bridge, generated: what users combine, and what they get wrong.

import * as fc from "fast-check";

/** One configuration with what is there before. */
export interface Scenario {
  /** Members of the plugin's configuration but `type` and `ipam`. */
  readonly bridge: Readonly<Record<string, unknown>>;
  /** Members of `ipam` but `type` and `dataDir`; absent for layer 2 only. */
  readonly ipam: Readonly<Record<string, unknown>> | undefined;
  readonly cniVersion: string;
  /** CNI_ARGS. */
  readonly args: string | undefined;
  /** What is done on the node before the ADD. */
  readonly before: string;
  /** What is done in the pod before the ADD. */
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

const routesOf = (given: readonly (readonly Members[])[]): fc.Arbitrary<readonly Members[]> => {
  const has4 = given.some((set) => set.some(({ subnet }) => String(subnet).includes(".")));
  const has6 = given.some((set) => set.some(({ subnet }) => String(subnet).includes(":")));
  const choices: Members[] = [];
  const unbroken = given[0]?.[0]?.["gateway"] === undefined;
  if (has4) {
    choices.push({ dst: "192.168.0.0/16" }, { dst: "172.16.0.0/12" });
    choices.push(unbroken ? { dst: "10.77.0.0/16", gw: "10.1.0.9" } : { dst: "10.77.0.0/16", gw: "10.1.0.200" });
    choices.push(unbroken ? { dst: "0.0.0.0/0", gw: "10.1.0.1" } : { dst: "0.0.0.0/0", gw: "10.1.0.254" });
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

/** What works. */
export const scenarios: fc.Arbitrary<Scenario> = fc
  .record({ ranges, gateway, link, port, mac, bridge, version })
  .chain((chosen) => {
    const given = chosen.ranges;
    const routes = given === undefined ? fc.constant([]) : routesOf(given);
    return routes.map((list) => ({ ...chosen, routes: list }));
  })
  .map(({ ranges: given, routes, gateway: gw, link: about, port: mode, mac: wanted, bridge: there, version: cniVersion }) => ({
    bridge: { bridge: "br7", ...gw, ...about, ...mode, ...wanted.members, ...there.members },
    ipam: given === undefined ? undefined : { ranges: given, ...(routes.length === 0 ? {} : { routes }) },
    cniVersion,
    args: wanted.args,
    before: there.before,
    inPod: "",
  }));

const plain: Scenario = {
  bridge: { bridge: "br7" },
  ipam: { ranges: [[v4]] },
  cniVersion: "1.0.0",
  args: undefined,
  before: "",
  inPod: "",
};

/** What fails in the reference, each with what it is, and with a namespace that is not the pod's where that is it. */
export const failing: readonly { readonly what: string; readonly scenario: Scenario; readonly netns?: string }[] = [
  {
    what: "hairpinMode with promiscMode",
    scenario: { ...plain, bridge: { bridge: "br7", hairpinMode: true, promiscMode: true } },
  },
  { what: "a VLAN beyond 4094", scenario: { ...plain, bridge: { bridge: "br7", vlan: 4095 } } },
  { what: "a negative VLAN", scenario: { ...plain, bridge: { bridge: "br7", vlan: -1 } } },
  { what: "a VLAN that is a text", scenario: { ...plain, bridge: { bridge: "br7", vlan: "100" } } },
  { what: "a boolean that is a text", scenario: { ...plain, bridge: { bridge: "br7", isGateway: "yes" } } },
  { what: "an mtu that is no whole number", scenario: { ...plain, bridge: { bridge: "br7", mtu: 1400.5 } } },
  { what: "an mtu that a veth can't have", scenario: { ...plain, bridge: { bridge: "br7", mtu: 10 } } },
  { what: "a MAC that is none", scenario: { ...plain, bridge: { bridge: "br7", runtimeConfig: { mac: "02:11:22" } } } },
  { what: "a MAC of a group", scenario: { ...plain, bridge: { bridge: "br7", runtimeConfig: { mac: "03:11:22:33:44:55" } } } },
  { what: "CNI_ARGS that are unknown", scenario: { ...plain, args: "NOTHING=known" } },
  {
    what: "a link of the bridge's name that is no bridge",
    scenario: { ...plain, before: "ip link add br7 type veth peer name other7" },
  },
  { what: "an interface that the pod has", scenario: { ...plain, inPod: "ip link add eth0 type bridge" } },
  {
    what: "a bridge with another IPv4 address",
    scenario: { ...plain, bridge: { bridge: "br7", isGateway: true }, before: `${make} && ip addr add 10.9.0.1/24 dev br7` },
  },
  {
    what: "a bridge with an IPv6 address of the same network",
    scenario: {
      ...plain,
      bridge: { bridge: "br7", isGateway: true },
      ipam: { ranges: [[v6]] },
      before: `${make} && ip addr add fd00:1::7/64 dev br7 nodad`,
    },
  },
  {
    what: "two gateways of IPv4",
    scenario: { ...plain, bridge: { bridge: "br7", isGateway: true }, ipam: { ranges: [[v4], [{ subnet: "10.2.0.0/24" }]] } },
  },
  {
    what: "a route by a gateway that nothing leads to",
    scenario: { ...plain, ipam: { ranges: [[v4]], routes: [{ dst: "192.168.0.0/16", gw: "10.55.0.1" }] } },
  },
  { what: "a namespace that is gone", scenario: plain, netns: "/run/netns/gone" },
  { what: "an address that IPAM can't give", scenario: { ...plain, args: "IgnoreUnknown=1;IP=10.99.0.5" } },
  { what: "ranges without a subnet", scenario: { ...plain, ipam: { ranges: [[{}]] } } },
  { what: "a bridge's name that is too long", scenario: { ...plain, bridge: { bridge: "a-bridge-with-a-name-too-long" } } },
];
