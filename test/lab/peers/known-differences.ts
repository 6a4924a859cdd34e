// The specifications of peers that Plexus breaks on purpose, and those that cannot run on a machine, by the text of the failed assertion.

import type { Specification } from "./specifications.ts";

/** A kind of specification that fails, and the reason. */
export interface Difference {
  readonly message: RegExp;
  /** The specification's titles, where its message names nothing. */
  readonly title?: RegExp;
  readonly reason: string;
  /** The suites that have such specifications. */
  readonly suites: readonly string[];
}

/** In order: the first that matches counts. */
export const knownDifferences: readonly Difference[] = [
  {
    suites: ["bridge", "macvlan", "tuning"],
    message: /the pod's network namespace "[^"]*" is the node's own/,
    reason: "The specification attaches the node's own network namespace, which Plexus refuses as a container's.",
  },
  {
    suites: ["bridge", "macvlan"],
    message: /cannot convert: no valid IP addresses/,
    reason: "The specification compares the whole text of the error; Plexus' has the network, the plugin and the remedy, too.",
  },
  {
    suites: ["host-device"],
    message: /device \d{4}:\d\d:\d\d\.\d not found or unsupported|(?:device|ID) "?mlx5_core/,
    reason: "The specification has a directory of its own in place of /sys, which the engine does not read.",
  },
  {
    suites: ["host-device"],
    message: /specify either \\?"device\\?"/,
    reason: "The specification compares the whole text of the error; Plexus' has the network, the plugin and the remedy, too.",
  },
  {
    suites: ["dummy", "ipvlan", "macvlan", "ptp", "tap", "vlan", "vrf"],
    message: /to match error\n\s*<string>: config version does not allow CHECK/,
    reason: "The specification compares the whole text of the error; Plexus adds the remedy.",
  },
  {
    suites: ["dummy"],
    message: /dummy: ipam\.type: is missing/,
    reason: "The specification compares the whole text of the error; the component names the key.",
  },
  {
    suites: ["firewall"],
    title: /installs the right iptables rules on the host$/,
    message: /is already attached to test as dummy0/,
    reason:
      "The specification repeats ADD without a DEL, which CNI forbids runtimes and Plexus refuses; the rules of the first ADD are right.",
  },
  {
    suites: ["bridge", "host-local"],
    message: /allows one address of each family, but the range sets assign/,
    reason: "The specification compares the whole text of the error; the component names the version that allows more addresses.",
  },
  {
    suites: ["host-local"],
    message: /no range set can assign the requested/,
    reason: "The specification compares the beginning of the error's text; the component names the ranges.",
  },
  {
    suites: ["host-local"],
    message: /invalid characters in containerID/,
    reason:
      "The container ID has spaces. The plugin's own skeleton refuses it as well; the specification calls the plugin's function without it.",
  },
  {
    suites: ["sbr"],
    message: /to match error\n\s*<string>: This plugin must be called as chained plugin/,
    reason: "The specification compares the whole text of the error; Plexus' has the network, the plugin and the remedy, too.",
  },
  {
    suites: ["static"],
    message: /to match error\n\s*<string>: (?:IPAM config missing|an entry in the 'ips'|the '(?:address|ip)' field|CNI version)/,
    reason: "The specification compares the whole text of the error; the component names the field or the variable.",
  },
  {
    suites: ["bandwidth"],
    message: /to match error\n\s*<string>: if burst is set, rate must also be set/,
    reason: "The specification compares the whole text of the error; the component names the missing key.",
  },
  {
    suites: ["bandwidth"],
    title: /should fail when veth peer of container interface does not match any of host interfaces in preResult$/,
    message: /Expected an error to have occurred/,
    reason:
      "The node finds the other end of the pod's veth by itself, so that a result with other interfaces cannot lead to another link.",
  },
  {
    suites: ["tuning"],
    title: /does not allow duplicated sysctl values$/,
    message: /Expected an error to have occurred/,
    reason: "The adapter reads the configuration into a map, which keeps one of two equal keys; the host refuses JSON with both.",
  },
  {
    suites: ["tuning"],
    message: /interface name contains \/ or : or whitespace characters/,
    reason: "The specification compares the plugin's text; Plexus refuses the interface name before any plugin is called.",
  },
  {
    suites: ["dhcp"],
    message: /to equal\n\s*<string>: error calling DHCP\.Allocate: no more tries/,
    reason: "The specification compares the whole text of the error; the component names the interface and the remedy.",
  },
  {
    suites: ["firewall"],
    message: /zone \w+ of firewalld is not granted/,
    reason: "The specification serves firewalld on a bus of its own; the component has no grant for its zone.",
  },
  {
    suites: ["vlan"],
    message: /to equal\n\s*<\*errors\.errorString \| \w+>: \n\s*invalid MTU/,
    reason: "The specification compares the whole text of the error; Plexus' has the network, the plugin and the remedy, too.",
  },
  {
    suites: ["vrf"],
    message: /ips\[0\]\.version is \\?"4\\?", but ips\[0\]\.address is 2a00:/,
    reason: "The specification's prevResult says that an IPv6 address has version 4, which Plexus refuses.",
  },
  {
    suites: ["portmap"],
    message: /iptables -t nat -S CNI-DN-/,
    reason: "The specification reads the plugin's iptables chain; the component maps ports in Plexus' own nftables table.",
  },
  {
    suites: ["libcni"],
    message: /to match error\n\s*<string>: plugin error: banana/,
    reason:
      "The specification compares the whole text of the plugin's error; Plexus puts the network and the plugin before the text.",
  },
  {
    suites: ["libcni"],
    message: /"type\\":\\"noop\\",\\"runtimeConfig\\"/,
    reason:
      "The specification compares the bytes of stdin; Plexus keeps the order of the configuration's keys and appends runtimeConfig.",
  },
];

type Kind = Omit<Difference, "suites">;

/** Why a specification cannot run here. */
export const impossibilities: readonly Kind[] = [
  {
    message: /operation not supported|ENOTSUP|EOPNOTSUPP/i,
    reason: "The kernel lacks a kind of link, such as dummy, or the filtering of VLANs.",
  },
  {
    message: /exec: "ping6?": executable file not found/,
    reason: "The specification executes ping, which this machine lacks.",
  },
  {
    message: /exec: "firewall": executable file not found/,
    reason: "The specification executes native plugins as programs of its own libcni, and calls no function of the plugin.",
  },
  {
    message: /running "go mod tidy"/,
    reason: "The specification builds a program with a commit of libcni of 2016, which it fetches.",
  },
];

/** How often a reason applies. */
export interface Counted {
  readonly reason: string;
  readonly count: number;
}

/** The outcomes of one suite. */
export interface SuiteOutcome {
  readonly specifications: number;
  /** Specifications that called Plexus. The others are about functions of the peer alone, or ended before their first call. */
  readonly carried: number;
  readonly passed: number;
  readonly onPurpose: readonly Counted[];
  readonly notHere: readonly Counted[];
}

/** The outcomes, and what a test does not accept. */
export interface CheckedOutcome extends SuiteOutcome {
  /** Titles and messages of all other specifications that failed. */
  readonly failed: readonly string[];
}

function reasonOf(kinds: readonly Kind[], { title, message = "" }: Specification): string | undefined {
  return kinds.find((each) => each.message.test(message) && (each.title === undefined || each.title.test(title)))?.reason;
}

/** Sorts a suite's specifications. */
export function suiteOutcome(suite: string, all: readonly Specification[]): CheckedOutcome {
  const differences = knownDifferences.filter(({ suites }) => suites.includes(suite));
  const failed = all.filter(({ state }) => state === "failed");
  const impossible = failed.map((each) => reasonOf(impossibilities, each)).filter((reason) => reason !== undefined);
  const skipped = all.filter(({ state }) => state === "skipped").map(() => "The peer skips the specification.");
  const here = failed.filter((each) => reasonOf(impossibilities, each) === undefined);
  return {
    specifications: all.length,
    carried: all.filter(({ isCarried }) => isCarried).length,
    passed: all.filter(({ state }) => state === "passed").length,
    onPurpose: counted(here.map((each) => reasonOf(differences, each)).filter((reason) => reason !== undefined)),
    notHere: counted([...impossible, ...skipped]),
    failed: all.length === 0 ? ["the suite has run no specification"] : unexplained(here, differences),
  };
}

/** Titles and messages of the specifications that failed without a known reason. */
function unexplained(failed: readonly Specification[], differences: readonly Difference[]): readonly string[] {
  return failed
    .filter((each) => reasonOf(differences, each) === undefined)
    .map(({ title, message }) => `${title}: ${message ?? ""}`);
}

function counted(reasons: readonly string[]): readonly Counted[] {
  return [...new Set(reasons)].map((reason) => ({ reason, count: reasons.filter((each) => each === reason).length }));
}
