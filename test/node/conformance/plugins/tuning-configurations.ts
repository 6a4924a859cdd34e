// Generated configurations of tuning: each attribute and all together, from each source; sysctls in every spelling; versions;
// and invalid configurations. NETNS becomes the namespace's path, IF the interface's name.

import type { Configuration } from "./side-by-side.ts";

type Step = Readonly<Record<string, unknown>>;

interface Draft {
  readonly name: string;
  readonly step: Step;
  readonly cniVersion?: string;
  readonly args?: string;
  readonly runtimeConfig?: object;
  /** The result of the preceding step; null if there is no preceding step. */
  readonly before?: object | null;
}

const mac = (number: number): string => `c2:11:22:33:44:${number.toString(16).padStart(2, "0")}`;

const attributes: Readonly<Record<string, (number: number) => Step>> = {
  nothing: () => ({}),
  "a MAC": (n) => ({ mac: mac(n) }),
  "a MAC in upper case with hyphens": (n) => ({ mac: mac(n).toUpperCase().replaceAll(":", "-") }),
  "an MTU": () => ({ mtu: 1454 }),
  "a large MTU": () => ({ mtu: 9000 }),
  "an MTU without IPv6": () => ({ mtu: 1000 }),
  "the smallest MTU": () => ({ mtu: 68 }),
  promiscuity: () => ({ promisc: true }),
  "no promiscuity": () => ({ promisc: false }),
  "all-multicast mode": () => ({ allmulti: true }),
  "no all-multicast mode": () => ({ allmulti: false }),
  "promiscuity and all-multicast mode": () => ({ promisc: true, allmulti: true }),
  "MAC and MTU": (n) => ({ mac: mac(n), mtu: 1300 }),
  everything: (n) => ({ mac: mac(n), mtu: 1400, promisc: true, allmulti: true }),
};

const sysctls: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
  "no sysctls": undefined,
  "with dots": { "net.ipv4.conf.IFNAME.arp_filter": "1", "net.ipv6.conf.IFNAME.accept_ra": "0" },
  "with slashes": {
    "net/ipv4/conf/IFNAME/rp_filter": "2",
    "net/ipv4/conf/IFNAME/proxy_arp": "1",
    "net/ipv6/conf/IFNAME/forwarding": "1",
  },
  "with both, and the name": {
    "net.ipv4.conf.IF.arp_ignore": "1",
    "net/ipv6/conf/IFNAME/hop_limit": "32",
    "net.ipv4.neigh.IFNAME.gc_stale_time": "77",
  },
};

/** The sysctls without IPv6's if the MTU is below 1280: the kernel then has no IPv6 sysctls, and CHECK would fail. */
function fitting(step: Step, sysctl: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const hasIpv6 = Number(step["mtu"] ?? 1500) >= 1280;
  return Object.fromEntries(Object.entries(sysctl).filter(([key]) => hasIpv6 || !key.includes("ipv6")));
}

const crossed: readonly ((number: number) => Draft)[] = Object.entries(attributes).flatMap(([title, step]) =>
  Object.entries(sysctls).map(([keys, sysctl]) => (number: number): Draft => ({
    name: `${title}, ${keys}`,
    step: { ...step(number), ...(sysctl === undefined ? {} : { sysctl: fitting(step(number), sysctl) }) },
  })),
);

/** The sources of an attribute, each with precedence over those before it. */
const bySource: readonly ((number: number) => Draft)[] = [
  (n) => ({ name: "MAC of CNI_ARGS", step: {}, args: `MAC=${mac(n)}` }),
  (n) => ({
    name: "MAC of CNI_ARGS over mac",
    step: { mac: "c2:00:00:00:00:01" },
    args: `IgnoreUnknown=1;K8S_POD_NAME=p;MAC=${mac(n)}`,
  }),
  (n) => ({ name: "the runtime's MAC", step: { capabilities: { mac: true } }, runtimeConfig: { mac: mac(n) } }),
  (n) => ({
    name: "the runtime's MAC over CNI_ARGS and mac",
    step: { mac: "c2:00:00:00:00:01", capabilities: { mac: true } },
    args: "MAC=c2:00:00:00:00:02",
    runtimeConfig: { mac: mac(n) },
  }),
  (n) => ({
    name: "args.cni over all other sources",
    step: {
      mac: "c2:00:00:00:00:01",
      mtu: 1400,
      capabilities: { mac: true },
      args: { cni: { mac: mac(n), mtu: 1300, promisc: true, allmulti: true } },
    },
    args: "MAC=c2:00:00:00:00:02",
    runtimeConfig: { mac: "c2:00:00:00:00:03" },
  }),
  () => ({ name: "args.cni with an empty MAC", step: { mac: "c2:00:00:00:00:01", args: { cni: { mac: "", mtu: 1350 } } } }),
  () => ({
    name: "args.cni with sysctls",
    step: {
      sysctl: { "net.ipv4.conf.IFNAME.arp_accept": "0" },
      args: { cni: { sysctl: { "net.ipv4.conf.IFNAME.arp_accept": "1", "net.ipv4.conf.IFNAME.arp_announce": "2" } } },
    },
  }),
  () => ({ name: "args.cni with promiscuity off", step: { promisc: true, args: { cni: { promisc: false } } } }),
  () => ({ name: "args for other plugins", step: { mtu: 1300, args: { labels: { a: "b" } } } }),
  (n) => ({
    name: "keys in another case",
    step: { Mac: mac(n), MTU: 1322, PROMISC: true, SysCtl: { "net.ipv4.conf.IFNAME.arp_notify": "1" } },
  }),
  (n) => ({ name: "in another directory", step: { mac: mac(n), mtu: 1333, dataDir: "DATADIR2" } }),
  () => ({ name: "members that are null", step: { mac: null, mtu: null, sysctl: null, allmulti: null, args: null } }),
];

/** Sysctls of the whole namespace, each set by only one configuration. */
export const namespaceSysctls: Readonly<Record<string, string>> = {
  "core.somaxconn": "512",
  "ipv4.ip_local_port_range": "30000 40000",
  // A user namespace of an ordinary user maps group 0 only, and the kernel refuses other groups.
  "ipv4.ping_group_range": "0 0",
  "ipv4.tcp_keepalive_time": "600",
  "ipv4.tcp_syn_retries": "4",
  "ipv4.ip_unprivileged_port_start": "80",
  "ipv4.tcp_retries2": "9",
  "ipv6.bindv6only": "1",
  "ipv4.tcp_fin_timeout": "33",
  "ipv4.ip_no_pmtu_disc": "1",
};

const whole: readonly ((number: number) => Draft)[] = Object.entries(namespaceSysctls).map(([key, value], at) => () => ({
  name: `the namespace's ${key}`,
  step: { sysctl: { [at % 2 === 0 ? `net.${key}` : `net/${key.replaceAll(".", "/")}`]: value } },
}));

/** The result of a preceding step in this version, with the interface IF in NETNS. */
export const resultOf = (version: string): object => {
  const of = (family: string): object => (version < "1.0.0" ? { version: family } : {});
  return version < "0.3.0"
    ? { ip4: { ip: "10.1.0.2/24", gateway: "10.1.0.1", routes: [{ dst: "0.0.0.0/0" }] }, dns: {} }
    : {
        interfaces: [
          { name: "br0", mac: "0a:58:00:00:00:01" },
          { name: "veth7" },
          { name: "IF", mac: "0a:58:0a:01:00:02", sandbox: "NETNS" },
        ],
        ips: [
          { ...of("4"), address: "10.1.0.2/24", gateway: "10.1.0.1", interface: 2 },
          { ...of("6"), address: "fd00:1::2/64", interface: 2 },
        ],
        routes: [{ dst: "0.0.0.0/0", gw: "10.1.0.1" }],
        dns: { nameservers: ["10.96.0.10"] },
      };
};

const versions: readonly ((number: number) => Draft)[] = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0"].flatMap(
  (cniVersion) =>
    ["everything", "a MAC", "an MTU", "nothing"].flatMap((title) => {
      const step = attributes[title];
      return step === undefined
        ? []
        : [(number: number): Draft => ({ name: `as ${cniVersion}, ${title}`, cniVersion, step: step(number) })];
    }),
);

const results: readonly ((number: number) => Draft)[] = [
  (n) => ({
    name: "a result that has no interfaces",
    step: { mac: mac(n) },
    before: { ips: [{ address: "10.1.0.2/24" }], dns: {} },
  }),
  (n) => ({
    name: "a result of another interface",
    step: { mac: mac(n) },
    before: { interfaces: [{ name: "other0", mac: "0a:58:0a:01:00:09", sandbox: "NETNS" }], dns: {} },
  }),
  (n) => ({
    name: "a result without a MAC",
    step: { mac: mac(n) },
    before: { interfaces: [{ name: "IF", sandbox: "NETNS" }], dns: {} },
  }),
];

const refused: readonly ((number: number) => Draft)[] = [
  () => ({ name: "refused: without a result", step: { mtu: 1400 }, before: null }),
  () => ({ name: "refused: a missing sysctl", step: { sysctl: { "net.ipv4.conf.IFNAME.no_such_thing": "1" } } }),
  () => ({ name: "refused: a sysctl of another interface", step: { sysctl: { "net.ipv4.conf.nobody.arp_filter": "1" } } }),
  () => ({ name: "refused: a sysctl outside of net", step: { sysctl: { "kernel.hostname": "mine" } } }),
  () => ({ name: "refused: a value that the kernel refuses", step: { sysctl: { "net.ipv4.conf.IFNAME.arp_filter": "many" } } }),
  () => ({ name: "refused: a value that is a number", step: { sysctl: { "net.ipv4.conf.IFNAME.arp_filter": 1 } } }),
  () => ({ name: "refused: sysctls that are a list", step: { sysctl: ["net.ipv4.conf.IFNAME.arp_filter"] } }),
  () => ({ name: "refused: a broken MAC", step: { mac: "c2:11:22" } }),
  () => ({ name: "refused: a multicast MAC", step: { mac: "01:00:5e:00:00:01" } }),
  () => ({ name: "refused: an MTU above the link's maximum", step: { mtu: 100_000 } }),
  () => ({ name: "refused: an MTU that is a string", step: { mtu: "1400" } }),
  () => ({ name: "refused: a negative MTU", step: { mtu: -1 } }),
  () => ({ name: "refused: promiscuity that is a string", step: { promisc: "yes" } }),
  () => ({ name: "refused: unknown CNI_ARGS", step: { mtu: 1400 }, args: "COLOUR=red" }),
  () => ({
    name: "refused: IgnoreUnknown that is not a boolean",
    step: { mtu: 1400 },
    args: "IgnoreUnknown=maybe;MAC=c2:00:00:00:00:01",
  }),
];

/** Configurations with keys that version 1.1.1 does not know. */
const newer: readonly ((number: number) => Draft)[] = [
  () => ({ name: "a queue's length", step: { txQLen: 777 } }),
  () => ({ name: "no queue", step: { txQLen: 0 } }),
  () => ({ name: "a queue's length of args.cni", step: { txQLen: 777, args: { cni: { txQLen: 888 } } } }),
];

/** All configurations; those for plugins newer than 1.1.1 only if `isNew`. */
export function tuningConfigurations(isNew: boolean): readonly Configuration[] {
  return [...(isNew ? newer : []), ...crossed, ...bySource, ...whole, ...versions, ...results, ...refused].map(configurationOf);
}

function configurationOf(draft: (number: number) => Draft, number: number): Configuration {
  const { before, step, cniVersion = "1.0.0", ...more } = draft(number);
  const ifname = `t${number}`;
  const named = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll('"IF"', `"${ifname}"`).replaceAll("conf.IF.", `conf.${ifname}.`));
  const preceding = before === null ? undefined : (before ?? resultOf(cniVersion));
  return {
    pod: 0,
    ifname,
    cniVersion,
    step: named(step),
    ...(preceding === undefined ? {} : { before: named(preceding) }),
    ...more,
  };
}
