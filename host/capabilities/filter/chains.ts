// The chains of the reference plugin `firewall`, and the rules in them: https://www.cni.dev/plugins/current/meta/firewall/. Names and comments are the
// plugin's, so that each of the two finds the other's rules. No I/O.

import { type IpAddress } from "../../../src/net/ip.ts";
import { chainName, type NetworkDelegate, type Owner, prefixOf } from "../firewall/owner.ts";
import type { IptablesRule } from "./iptables-rule.ts";
import type { Acceptance, Separation } from "./requests.ts";

/** The table of iptables for filters. */
export const filterTable = "filter";
/** iptables' base chain for packets that the node forwards. */
export const forwardChain = "FORWARD";
/** Has the accepted addresses. */
export const acceptChain = "CNI-FORWARD";
/** Has the bridges from which packets come. */
export const fromChain = "CNI-ISOLATION-STAGE-1";
/** Has the bridges to which packets go. */
export const toChain = "CNI-ISOLATION-STAGE-2";

const PURPOSE = "filter";
/** The beginning of the comments of accepted addresses. */
const MARK = "plexus/";

const ofPlugin = "CNI firewall plugin rules";
const ofBothPolicies = `${ofPlugin} (ingressPolicy: same-bridge|isolated)`;

/** A rule and its place. `begin`: before all rules of the chain, `end`: behind them. */
export interface PlacedRule {
  readonly chain: string;
  readonly at: "begin" | "end";
  readonly rule: IptablesRule;
}

/** The comment of an attachment's rules: `plexus/filter/firewall/pods/0c5f…/eth0`. */
export function ownerComment(owner: Owner): string {
  return `${MARK}${chainName(PURPOSE, owner)}`;
}

/** The beginning of the comments of a delegate's rules in a network; the attachment's part follows. */
export function commentPrefix(delegate: NetworkDelegate): string {
  return `${MARK}${prefixOf(PURPOSE, delegate)}`;
}

/** The chains that an acceptance needs besides the base chain. */
export function neededChains({ adminChain, separation }: Acceptance): readonly string[] {
  return [acceptChain, adminChain, ...(separation === undefined ? [] : [fromChain, toChain])];
}

/** The rules that all attachments share, in the order in which the reference plugin makes them. */
export function sharedRules({ adminChain, separation }: Acceptance): readonly PlacedRule[] {
  return [
    jump(forwardChain, acceptChain, ofPlugin),
    jump(acceptChain, adminChain, "CNI firewall plugin admin overrides"),
    ...(separation === undefined ? [] : separationRules(separation)),
  ];
}

/** The rules of an address. `comment`: absent for the rules of the reference plugin. */
export function addressRules(address: IpAddress, comment?: string): readonly PlacedRule[] {
  const marked = comment === undefined ? {} : { comment };
  return [
    { destination: address, isKnown: true, ...marked, verdict: { kind: "accept" } } as const,
    { source: address, ...marked, verdict: { kind: "accept" } } as const,
  ].map((rule) => ({ chain: acceptChain, at: "end", rule }));
}

function separationRules({ bridge, policy }: Separation): readonly PlacedRule[] {
  const comment = `${ofPlugin} (ingressPolicy: ${policy})`;
  const incoming = bridge;
  const toOthers: IptablesRule = {
    incoming,
    outgoing: { name: bridge, operation: "is not" },
    comment,
    verdict: { kind: "jump", chain: toChain },
  };
  const toItself: IptablesRule = { incoming, outgoing: { name: bridge, operation: "is" }, comment, verdict: { kind: "drop" } };
  const toBridge: IptablesRule = {
    outgoing: { name: bridge, operation: "is" },
    comment: ofBothPolicies,
    verdict: { kind: "drop" },
  };
  return [
    jump(forwardChain, fromChain, ofBothPolicies),
    { chain: fromChain, at: "begin", rule: toOthers },
    ...(policy === "isolated" ? ([{ chain: fromChain, at: "begin", rule: toItself }] as const) : []),
    leave(fromChain),
    { chain: toChain, at: "begin", rule: toBridge },
    leave(toChain),
  ];
}

function jump(from: string, to: string, comment: string): PlacedRule {
  return { chain: from, at: "begin", rule: { comment, verdict: { kind: "jump", chain: to } } };
}

function leave(chain: string): PlacedRule {
  return { chain, at: "end", rule: { comment: ofBothPolicies, verdict: { kind: "return" } } };
}
