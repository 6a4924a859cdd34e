// Compiles the policies of a pod into its table. Each policy has a chain in each direction that it isolates; its peers are elements of named sets, so
// that the number of rules does not grow with pods.

import type { Family } from "../../../src/net/ip.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import type { AppliedPolicy, PodInterface } from "./applied-policies.ts";
import { openEgress, openIngress } from "./open-traffic.ts";
import { admitAll, admitOwn, type AdmitPeers, PeerDemand, SharedPeers, sharesOf } from "./peer-shares.ts";
import { type FindPeers, policyQueries } from "./peers.ts";
import { type Policy, policyText } from "./policy.ts";
import type { NamedPort } from "../../../src/kube/named-ports.ts";
import { compileRule, type RuleInit } from "./compile-rule.ts";
import type { Match, NamedSet, PolicyTable, TableChain, TableRule } from "./table.ts";

/** The treatment of established connections that no policy allows any more: they stay, or their packets are dropped. */
export type Established = "keep" | "end";

/** A pod's interface with its policies. */
export interface IsolatedInterface {
  readonly link: PodInterface;
  readonly policies: readonly AppliedPolicy[];
}

/** Settings of a compilation. */
export interface CompileInit {
  readonly interfaces: readonly IsolatedInterface[];
  /** The named ports of the pod's containers. */
  readonly ports: readonly NamedPort[];
  readonly findPeers: FindPeers;
  readonly established: Established;
  /** Whether the table that this one replaces has sets of IPv6 addresses: with them a last peer that leaves changes elements only. */
  readonly keepsIpv6?: boolean;
}

/** Bounds of one pod's table: a tenant's policies, and the peers of other tenants, must not cost the node more. An element takes some 100 bytes in the kernel. */
export const tableBounds = { policies: 256, rules: 16_384, elements: 65_536 } as const;

/** The part of a policy's name in the name of a chain. The kernel's names have at most 255 bytes. */
const maxNamePart = 120;

/**
 * Compiles the table; undefined if no policy isolates any interface. Peers beyond the bound are omitted by their namespaces' shares. A problem names the bound
 * that the policies exceed by themselves.
 */
export function compile(init: CompileInit): Reading<PolicyTable | undefined> {
  const tooMany = policyExcess(init.interfaces);
  if (tooMany !== undefined) return problem(tooMany);
  const table = build(init, admitAll);
  if (table === undefined) return { ok: true, value: undefined };
  const rules = table.chains.reduce((sum, chain) => sum + chain.rules.length, 0);
  if (rules > tableBounds.rules) return problem(`the pod's policies need ${rules} rules; Plexus allows ${tableBounds.rules}`);
  return elementsOf(table) > tableBounds.elements ? compileShared(init) : { ok: true, value: table };
}

/** The table in which the policies' own peers come first, and the other namespaces share what is left. */
function compileShared(init: CompileInit): Reading<PolicyTable | undefined> {
  const own = elementsOf(build(init, admitOwn));
  if (own > tableBounds.elements) return problem(elementExcess(init, own));
  const demand = new PeerDemand();
  build(init, demand.admit);
  const shared = new SharedPeers(sharesOf(demand.byNamespace, tableBounds.elements - own));
  const table = build(init, shared.admit);
  return { ok: true, value: table && { ...table, omitted: shared.omitted } };
}

/**
 * The families of the sets of pods' addresses in a table. Without any peer with an IPv6 address the table has no such sets, nor rules with them: a packet matches no
 * empty set, so that each packet has the same end. The decision is for the whole table, and a table that has them keeps them: pods that come and go change elements.
 */
function peerFamilies({ interfaces, findPeers, keepsIpv6 = false }: CompileInit): readonly Family[] {
  const hasIpv6 =
    keepsIpv6 ||
    interfaces.some(({ policies }) =>
      policies.some(({ policy, network }) =>
        policyQueries(policy, network).some((query) =>
          findPeers(query).some(({ addresses }) => addresses.some(({ family }) => family === 6)),
        ),
      ),
    );
  return hasIpv6 ? [4, 6] : [4];
}

function build(init: CompileInit, admit: AdmitPeers): PolicyTable | undefined {
  const families = peerFamilies(init);
  const chains: TableChain[] = [];
  const sets: NamedSet[] = [];
  const jumps: Record<"ingress" | "egress", TableRule[]> = { ingress: [], egress: [] };
  for (const { link, policies } of init.interfaces) {
    for (const direction of ["ingress", "egress"] as const) {
      const isolating = policies.filter(({ policy }) => policy[direction] !== undefined);
      if (isolating.length === 0) continue;
      const side = direction === "ingress" ? "in" : "out";
      const chain = `${side}/${link.ifname}`;
      const parts = isolating.map((each, index) =>
        policyChains({ ...init, families, admit }, each, direction, `${chain}/${chainPart(each.policy, index)}`),
      );
      chains.push(interfaceChain(chain, direction, init.established, parts), ...parts.flatMap((part) => part.chains));
      sets.push(...parts.flatMap((part) => part.sets));
      const jump = (match: Match): TableRule => ({
        matches: [match],
        end: { kind: "jump", chain },
        comment: link.networks.join(" "),
      });
      jumps[direction].push(jump({ kind: "interface", direction: side, name: link.ifname }));
      // Packets that leave by a VRF's interface are shown with the interface, too.
      if (direction === "ingress") jumps.ingress.push(jump({ kind: "vrf-port", name: link.ifname }));
    }
  }
  return chains.length === 0 ? undefined : { chains: [...baseChains(jumps), ...chains], sets };
}

function elementsOf(table: PolicyTable | undefined): number {
  return (table?.sets ?? []).reduce((sum, set) => sum + set.elements.size, 0);
}

/** `own`: the elements of blocks, and of peers of the policies' own namespace. */
function elementExcess(init: CompileInit, own: number): string {
  const sizes = new Map<string, number>();
  for (const { link, policies } of init.interfaces)
    for (const each of policies) {
      const size = elementsOf(build({ ...init, interfaces: [{ link, policies: [each] }] }, admitOwn));
      const text = policyText(each.policy);
      sizes.set(text, (sizes.get(text) ?? 0) + size);
    }
  const [[most, peers] = ["", 0]] = [...sizes].toSorted(([, one], [, other]) => other - one);
  const maximum = `the pod's policies have ${own} peers of their own namespace and blocks; Plexus allows ${tableBounds.elements}`;
  return `${maximum}. ${most} has the most: ${peers}. Replace its peers by blocks, or divide the pods among policies.`;
}

/** The excess of policies of a pod; undefined within the bound. */
export function policyExcess(interfaces: readonly IsolatedInterface[]): string | undefined {
  const applied = interfaces.reduce((sum, { policies }) => sum + policies.length, 0);
  return applied > tableBounds.policies
    ? `${applied} policies apply to the pod; Plexus allows ${tableBounds.policies}`
    : undefined;
}

/**
 * The chains that the kernel calls. Egress is judged behind routing: a packet whose destination NAT changed in the output hook has its new route only then.
 * Source NAT comes later, at priority 100.
 */
function baseChains({ ingress, egress }: Readonly<Record<"ingress" | "egress", readonly TableRule[]>>): readonly TableChain[] {
  return [
    { name: "input", hook: { at: "input", priority: 0 } as const, rules: ingress },
    { name: "forward", hook: { at: "forward", priority: 0 } as const, rules: ingress },
    { name: "postrouting", hook: { at: "postrouting", priority: 0 } as const, rules: egress },
  ].filter(({ rules }) => rules.length > 0);
}

/** The chain of one interface and direction: replies, what stays open, the policies, and the end of all else. */
function interfaceChain(
  name: string,
  direction: "ingress" | "egress",
  established: Established,
  policies: readonly { readonly name: string; readonly text: string }[],
): TableChain {
  return {
    name,
    rules: [
      ...replies(established),
      ...(direction === "ingress" ? openIngress : openEgress),
      ...policies.map((policy): TableRule => ({ matches: [], end: { kind: "jump", chain: policy.name }, comment: policy.text })),
      { matches: [], end: { kind: "drop" }, comment: "" },
    ],
  };
}

/** With `end`, a connection's own direction passes the policies packet by packet: a removed allowance ends it without a look at the flows. */
function replies(established: Established): readonly TableRule[] {
  if (established === "keep") return [accepted({ kind: "state", states: ["established", "related"] })];
  return [
    accepted({ kind: "state", states: ["established"] }, { kind: "reply" }),
    accepted({ kind: "state", states: ["related"] }),
  ];
}

function accepted(...matches: TableRule["matches"]): TableRule {
  return { matches, end: { kind: "accept" }, comment: "" };
}

interface PolicyChains {
  readonly name: string;
  /** For administrators, in the listed table. */
  readonly text: string;
  readonly chains: readonly TableChain[];
  readonly sets: readonly NamedSet[];
}

function policyChains(
  { ports, findPeers, families, admit }: CompileInit & Pick<RuleInit, "families" | "admit">,
  { policy, network }: AppliedPolicy,
  direction: "ingress" | "egress",
  name: string,
): PolicyChains {
  const text = `${policy.kind} ${policy.name}`;
  const { namespace } = policy;
  const rules = (policy[direction] ?? []).map((rule, index) =>
    compileRule({
      rule,
      direction,
      network,
      namespace,
      chain: `${name}/${index}`,
      ports,
      findPeers,
      families,
      admit,
      policy: text,
    }),
  );
  return {
    name,
    text,
    chains: [{ name, rules: rules.flatMap((each) => each.rules) }, ...rules.flatMap((each) => each.chains)],
    sets: rules.flatMap((each) => each.sets),
  };
}

/** All policies of a pod are of its namespace, so that kind and name are unique. A long name is cut, and gets its place among the policies. */
function chainPart({ kind, name }: Policy, index: number): string {
  const part = `${kind === "NetworkPolicy" ? "np" : "mnp"}.${name}`;
  return part.length <= maxNamePart ? part : `${part.slice(0, maxNamePart)}~${index}`;
}
