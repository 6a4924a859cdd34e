// The specifications of the reference plugins that Plexus breaks on purpose, by the text of the failed assertion, and those that a kernel can't run.

import type { Specification } from "./reference-suites.ts";

/** A kind of specification that fails with Plexus, and the reason. */
export interface Difference {
  readonly message: RegExp;
  readonly reason: string;
}

/** In order: the first that matches counts. */
export const knownDifferences: readonly Difference[] = [
  {
    message: /the pod's network namespace "[^"]*" is the node's own/,
    reason: "The specification attaches the node's own network namespace, which Plexus refuses as a container's.",
  },
  {
    message: /cannot convert: no valid IP addresses/,
    reason: "The specification compares the whole text of the error; Plexus' has the network, the plugin and the remedy, too.",
  },
  {
    message: /allows one address of each family, but the range sets assign/,
    reason: "The specification compares the whole text of the error; the component names the version that allows more addresses.",
  },
  {
    message: /no range set can assign the requested/,
    reason: "The specification compares the beginning of the error's text; the component names the ranges.",
  },
  {
    message: /invalid characters in containerID/,
    reason:
      "The container ID has spaces. The plugin's own skeleton refuses it as well; the specification calls the plugin's function without it.",
  },
  {
    message: /iptables -t nat -S CNI-DN-/,
    reason: "The specification reads the plugin's iptables chain; the component maps ports in Plexus' own nftables table.",
  },
];

/** The kernel's answers where it lacks a kind of link, such as dummy, or the filtering of VLANs. */
const kernelLacks = /operation not supported|Operation not supported|ENOTSUP|EOPNOTSUPP/;

function isNotHere({ message = "" }: Specification): boolean {
  return kernelLacks.test(message);
}

function reasonOf({ message = "" }: Specification): string | undefined {
  return knownDifferences.find((each) => each.message.test(message))?.reason;
}

/** The outcomes of one plugin's specifications. */
export interface SuiteOutcome {
  readonly plugin: string;
  readonly specifications: number;
  readonly passed: number;
  /** Specifications that need a kind of link or a setting that this kernel lacks. */
  readonly notHere: number;
  readonly onPurpose: readonly { readonly reason: string; readonly count: number }[];
  /** Titles and messages of all other specifications that failed. */
  readonly failed: readonly string[];
}

/** Sorts a plugin's specifications. */
export function suiteOutcome(plugin: string, all: readonly Specification[]): SuiteOutcome {
  const failed = all.filter(({ state }) => state === "failed");
  const here = failed.filter((each) => !isNotHere(each));
  const reasons = knownDifferences.map(({ reason }) => ({
    reason,
    count: here.filter((each) => reasonOf(each) === reason).length,
  }));
  return {
    plugin,
    specifications: all.length,
    passed: all.filter(({ state }) => state === "passed").length,
    notHere: failed.length - here.length + all.filter(({ state }) => state === "skipped").length,
    onPurpose: reasons.filter(({ count }) => count > 0),
    failed: here.filter((each) => reasonOf(each) === undefined).map(({ title, message }) => `${title}: ${message ?? ""}`),
  };
}
