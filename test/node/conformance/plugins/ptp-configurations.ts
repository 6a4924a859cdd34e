// Configurations of ptp and of static, the IPAM plugin. Titles begin with the rows of the checklist that a configuration holds.

type Members = Readonly<Record<string, unknown>>;

/** A configuration list with one step. */
export interface Configuration {
  readonly title: string;
  readonly cniVersion?: string;
  /** CNI_ARGS. */
  readonly args?: string;
  /** The step with its type. */
  readonly step: Members;
  /** Whether the pod reaches an address beyond the node, which has no route to the pod. */
  readonly reaches?: boolean;
}

const v4 = { subnet: "10.1.0.0/24" };
const v6 = { subnet: "fd00:1::/64" };
const ranges = (...all: readonly Members[]): Members => ({ type: "host-local", ranges: all.map((each) => [each]) });
const fixed = { type: "static", addresses: [{ address: "10.2.0.9/24", gateway: "10.2.0.1" }] };
const dns = { nameservers: ["10.96.0.10"], domain: "cluster.local", search: ["svc.cluster.local"], options: ["ndots:5"] };

/** Networks that both plugins attach. */
export const ptpConfigurations: readonly Configuration[] = [
  {
    title: "DE-PTP-01, DE-PTP-05: IPv4 with routes",
    step: { type: "ptp", ipam: { ...ranges(v4), routes: [{ dst: "0.0.0.0/0" }, { dst: "172.16.0.0/12", gw: "10.1.0.1" }] } },
  },
  {
    title: "DE-PTP-05: both families, a gateway outside of the network's beginning",
    step: {
      type: "ptp",
      ipam: { ...ranges({ ...v4, rangeStart: "10.1.0.77", gateway: "10.1.0.254" }, v6), routes: [{ dst: "::/0" }] },
    },
  },
  {
    title: "DE-PTP-04, DE-PTP-06: an MTU and dns, as 0.4.0",
    cniVersion: "0.4.0",
    step: { type: "ptp", mtu: 1400, dns, ipam: { ...ranges(v4), routes: [{ dst: "10.77.0.0/16" }] } },
  },
  {
    title: "DE-PTP-06, DE-STATIC-04: without dns of its own, addresses and dns of static, as 0.3.1",
    cniVersion: "0.3.1",
    step: { type: "ptp", ipam: { ...fixed, routes: [{ dst: "0.0.0.0/0" }], dns } },
  },
  {
    title: "DE-STATIC-05: IP and GATEWAY of CNI_ARGS, as 1.1.0",
    cniVersion: "1.1.0",
    args: "IgnoreUnknown=1;IP=10.3.0.7/24,fd00:3::7/64;GATEWAY=10.3.0.1,fd00:3::1",
    step: { type: "ptp", ipam: { ...fixed, addresses: [] } },
  },
];

/** Masquerading, whose rules the two plugins make in different tables: what packets do is compared. */
export const masquerading: readonly Configuration[] = [
  {
    title: "DE-PTP-02, DE-PTP-03: ipMasq",
    step: { type: "ptp", ipMasq: true, ipMasqBackend: "nftables", ipam: { ...ranges(v4), routes: [{ dst: "0.0.0.0/0" }] } },
    reaches: true,
  },
  {
    title: "DE-PTP-02: without ipMasq",
    step: { type: "ptp", ipam: { ...ranges(v4), routes: [{ dst: "0.0.0.0/0" }] } },
    reaches: false,
  },
];

/** Networks that both plugins refuse. */
export const refusedConfigurations: readonly Configuration[] = [
  { title: "no ipam", step: { type: "ptp" } },
  { title: "an mtu that is a text", step: { type: "ptp", mtu: "1500", ipam: ranges(v4) } },
  { title: "an unknown backend", step: { type: "ptp", ipMasq: true, ipMasqBackend: "ipchains", ipam: ranges(v4) } },
  { title: "no gateway", step: { type: "ptp", ipam: { ...fixed, addresses: [{ address: "10.2.0.9/24" }] } } },
  { title: "no address", step: { type: "ptp", ipam: { type: "static" } } },
  { title: "static without ipam", step: { type: "static" } },
  { title: "an address without a prefix", step: { type: "static", ipam: { ...fixed, addresses: [{ address: "10.2.0.9" }] } } },
  {
    title: "a broken gateway",
    step: { type: "static", ipam: { ...fixed, addresses: [{ address: "10.2.0.9/24", gateway: "none" }] } },
  },
  { title: "IP of CNI_ARGS without a prefix", args: "IP=10.3.0.7", step: { type: "static", ipam: fixed } },
  { title: "unknown CNI_ARGS", args: "COLOUR=red", step: { type: "static", ipam: fixed } },
  {
    title: "two addresses of a family in 0.2.0",
    cniVersion: "0.2.0",
    step: { type: "static", ipam: { ...fixed, addresses: [{ address: "10.2.0.9/24" }, { address: "10.2.0.10/24" }] } },
  },
];

const alone = (members: Members = {}): Members => ({ type: "static", ipam: fixed, ...members });

/** Results of static alone. */
export const staticConfigurations: readonly Configuration[] = [
  {
    title: "DE-STATIC-01, DE-STATIC-02: addresses of both families",
    step: alone({
      ipam: {
        ...fixed,
        addresses: [...fixed.addresses, { address: "10.2.1.9/16" }, { address: "fd00:2::9/64", gateway: "fd00:2::1" }],
      },
    }),
  },
  {
    title: "DE-STATIC-03, DE-STATIC-04: routes and dns",
    step: alone({
      ipam: {
        ...fixed,
        dns,
        routes: [{ dst: "0.0.0.0/0" }, { dst: "10.9.0.0/16", gw: "10.2.0.5", mtu: 1400, priority: 3, table: 7 }],
      },
    }),
  },
  {
    title: "DE-STATIC-05: CNI_ARGS add addresses",
    args: "IP=10.3.0.7/24, 10.4.0.7/24;GATEWAY=10.3.0.1,10.2.0.77",
    step: alone(),
  },
  { title: "DE-STATIC-06: args.cni.ips", args: "IP=10.3.0.7/24", step: alone({ args: { cni: { ips: ["10.5.0.7/24"] } } }) },
  {
    title: "DE-STATIC-07: runtimeConfig.ips",
    step: alone({ args: { cni: { ips: ["10.5.0.7/24"] } }, runtimeConfig: { ips: ["10.6.0.7/24", "fd00:6::7/64"] } }),
  },
  { title: "DE-STATIC-01: as 0.2.0", cniVersion: "0.2.0", step: alone() },
];
