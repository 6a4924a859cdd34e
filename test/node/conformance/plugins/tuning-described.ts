// The cases of the reference tuning's tests, and the features of version 1.9.1, each with its effect on the interface.

import { resultOf } from "./tuning-configurations.ts";
import type { Configuration } from "./side-by-side.ts";

export interface Described {
  readonly title: string;
  readonly step: Readonly<Record<string, unknown>>;
  readonly args?: string;
  readonly runtimeConfig?: object;
  /** The link's facts between ADD and DEL. */
  readonly made: Readonly<Record<string, unknown>>;
  /** The interface's sysctls between ADD and DEL. */
  readonly settings?: Readonly<Record<string, string>>;
}

const promiscuous = { flags: ["BROADCAST", "MULTICAST", "PROMISC"] };
const allMulticast = { flags: ["ALLMULTI", "BROADCAST", "MULTICAST"] };

const titles: readonly Described[] = [
  { title: "passes prevResult through unchanged", step: { sysctl: { "net.ipv4.conf.all.log_martians": "1" } }, made: {} },
  { title: "configures and deconfigures promiscuous mode with ADD/DEL", step: { promisc: true }, made: promiscuous },
  {
    title: "configures and deconfigures promiscuous mode from args with ADD/DEL",
    step: { args: { cni: { promisc: true } } },
    made: promiscuous,
  },
  { title: "configures and deconfigures mtu with ADD/DEL", step: { mtu: 1454 }, made: { mtu: 1454 } },
  {
    title: "configures and deconfigures mtu from args with ADD/DEL",
    step: { args: { cni: { mtu: 1454 } } },
    made: { mtu: 1454 },
  },
  { title: "configures and deconfigures tx queue len with ADD/DEL", step: { txQLen: 20_000 }, made: { queue: 20_000 } },
  {
    title: "configures and deconfigures tx queue len from args with ADD/DEL",
    step: { args: { cni: { txQLen: 20_000 } } },
    made: { queue: 20_000 },
  },
  {
    title: "configures and deconfigures mac address (from conf file) with ADD/DEL",
    step: { mac: "c2:11:22:33:44:55" },
    made: { mac: "c2:11:22:33:44:55" },
  },
  {
    title: "configures and deconfigures mac address (from args) with ADD/DEL",
    step: { args: { cni: { mac: "c2:11:22:33:44:66" } } },
    made: { mac: "c2:11:22:33:44:66" },
  },
  {
    title: "configures and deconfigures mac address (from CNI_ARGS) with ADD/DEL",
    step: {},
    args: "IgnoreUnknown=true;MAC=c2:11:22:33:44:66",
    made: { mac: "c2:11:22:33:44:66" },
  },
  {
    title: "configures and deconfigures mac address (from RuntimeConfig) with ADD/DEL",
    step: { capabilities: { mac: true } },
    runtimeConfig: { mac: "c2:11:22:33:44:55" },
    made: { mac: "c2:11:22:33:44:55" },
  },
  {
    title: "configures and deconfigures mac address, promisc mode, MTU and tx queue len (from conf file) with custom dataDir",
    step: { mac: "c2:11:22:33:44:77", promisc: true, mtu: 4000, txQLen: 20_000, dataDir: "DATADIR2" },
    made: { mac: "c2:11:22:33:44:77", mtu: 4000, queue: 20_000, ...promiscuous },
  },
  { title: "configures and deconfigures all-multicast mode with ADD/DEL", step: { allmulti: true }, made: allMulticast },
  {
    title: "configures and deconfigures all-multicast mode from args with ADD/DEL",
    step: { args: { cni: { allmulti: true } } },
    made: allMulticast,
  },
  {
    title: "finds IFNAME in CHECK as in ADD",
    step: { sysctl: { "net.ipv4.conf.IFNAME.arp_filter": "1", "net/ipv6/conf/IFNAME/hop_limit": "33" } },
    made: {},
    settings: { "ipv4/arp_filter": "1", "ipv6/hop_limit": "33" },
  },
];

const versions = ["0.2.0", "0.3.1", "1.1.0"];

/** An interface for each version of each case; every third name has a dot, as a VLAN's has. */
export const described: readonly (Described & { readonly configurations: readonly Configuration[] })[] = titles.map(
  (each, number) => {
    const { step, args, runtimeConfig } = each;
    const configurations = versions.map((cniVersion, at): Configuration => {
      const ifname = at % 3 === 0 ? `d${number}.${at}` : `d${number}x${at}`;
      return {
        name: `${each.title} ${cniVersion}`,
        step,
        cniVersion,
        ifname,
        pod: 0,
        before: JSON.parse(JSON.stringify(resultOf(cniVersion)).replaceAll('"IF"', `"${ifname}"`)),
        ...(args === undefined ? {} : { args }),
        ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
      };
    });
    return { ...each, configurations };
  },
);
