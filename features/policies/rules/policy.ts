// MultiNetworkPolicy (`k8s.cni.cncf.io/v1beta1`) and NetworkPolicy (`networking.k8s.io/v1`), read from untrusted objects. Both have the same
// specification: https://kubernetes.io/docs/concepts/services-networking/network-policies/

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import { type IpBlock, readIpBlock } from "./ip-block.ts";
import { type LabelSelector, readSelector } from "./label-selector.ts";
import { policyForAnnotation, readPolicyNetworks } from "./policy-networks.ts";
import { type PolicyPort, readPolicyPort } from "./policy-port.ts";

/** The kinds of policies. */
export type PolicyKind = "MultiNetworkPolicy" | "NetworkPolicy";

/** Pods that a rule allows. */
export interface PodPeer {
  readonly kind: "pods";
  /** The namespaces; undefined: the policy's own. */
  readonly namespaces: LabelSelector | undefined;
  readonly pods: LabelSelector;
}

/** Addresses that a rule allows. */
export interface BlockPeer {
  readonly kind: "block";
  readonly block: IpBlock;
}

/** The traffic that a rule allows. */
export interface PolicyRule {
  /** Empty: all peers. */
  readonly peers: readonly (PodPeer | BlockPeer)[];
  /** Empty: all ports, and all protocols. */
  readonly ports: readonly PolicyPort[];
}

/** The name of a policy, and the networks that it is for. */
export interface PolicyIdentity {
  readonly kind: PolicyKind;
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` of definitions, and `podnetwork/NAME`. A NetworkPolicy is for the PodNetworks that ask for it. */
  readonly networks: readonly string[];
  /** Parts of the annotation that name no network. */
  readonly networkProblems: readonly string[];
}

/** A policy. */
export interface Policy extends PolicyIdentity {
  readonly pods: LabelSelector;
  /** The rules of a direction; undefined: the policy does not isolate pods in this direction. */
  readonly ingress: readonly PolicyRule[] | undefined;
  readonly egress: readonly PolicyRule[] | undefined;
}

/** A policy that cannot be read. It counts as selecting each pod of its namespace on its networks. */
export interface UnreadablePolicy extends PolicyIdentity {
  readonly problem: string;
  /** The policy may be for networks that are not read, so it counts for all networks. */
  readonly isForAny?: true;
}

/** Maximum rules of a direction, and peers or ports of a rule. */
const maxRules = 128;
const maxParts = 128;

/** Reads a policy; undefined without usable metadata, so that it is the policy of no namespace. */
export function readPolicy(object: unknown, kind: PolicyKind): Policy | UnreadablePolicy | undefined {
  const meta = readObjectMeta(object);
  if (!meta.ok) return undefined;
  const { namespace, name, annotations } = meta.value;
  const forNetworks = readPolicyNetworks(
    kind === "MultiNetworkPolicy" ? annotations.get(policyForAnnotation) : undefined,
    namespace,
  );
  const { networks, problems: networkProblems, excess } = forNetworks;
  const identity: PolicyIdentity = { kind, namespace, name, networks, networkProblems };
  if (excess !== undefined) return { ...identity, problem: `${excess}. Divide the policy.`, isForAny: true };
  const spec = readSpec(isJsonObject(object) ? object["spec"] : undefined);
  return spec.ok ? { ...identity, ...spec.value } : { ...identity, problem: spec.problem };
}

/** The text that names a policy for administrators. */
export function policyText({ kind, namespace, name }: PolicyIdentity): string {
  return `${kind} ${namespace}/${name}`;
}

function readSpec(spec: unknown): Reading<Pick<Policy, "pods" | "ingress" | "egress">> {
  if (!isJsonObject(spec)) return problem(`spec is ${describeJson(spec)}, and must be an object`);
  const pods = readSelector(spec["podSelector"] ?? {}, "spec.podSelector");
  if (!pods.ok) return pods;
  const types = readTypes(spec);
  if (!types.ok) return types;
  const directions: { ingress: readonly PolicyRule[] | undefined; egress: readonly PolicyRule[] | undefined } = {
    ingress: undefined,
    egress: undefined,
  };
  for (const [direction, member, peers] of [
    ["Ingress", "ingress", "from"],
    ["Egress", "egress", "to"],
  ] as const) {
    if (!types.value.has(direction)) continue;
    const rules = readList(spec[member], `spec.${member}`, maxRules, (rule, where) => readRule(rule, where, peers));
    if (!rules.ok) return rules;
    directions[member] = rules.value;
  }
  return { ok: true, value: { pods: pods.value, ...directions } };
}

/** Without types a policy isolates ingress, and egress if it has rules for it. */
function readTypes(spec: Readonly<Record<string, unknown>>): Reading<ReadonlySet<"Ingress" | "Egress">> {
  const { policyTypes, egress } = spec;
  if (policyTypes === undefined || policyTypes === null || (Array.isArray(policyTypes) && policyTypes.length === 0)) {
    return { ok: true, value: new Set(Array.isArray(egress) && egress.length > 0 ? ["Ingress", "Egress"] : ["Ingress"]) };
  }
  if (!Array.isArray(policyTypes)) return problem(`spec.policyTypes is ${describeJson(policyTypes)}, and must be a list`);
  const types = policyTypes.filter((each) => each === "Ingress" || each === "Egress");
  if (types.length < policyTypes.length) return problem("spec.policyTypes may have Ingress and Egress only");
  return { ok: true, value: new Set(types) };
}

function readList<T>(
  list: unknown,
  where: string,
  max: number,
  read: (value: unknown, where: string) => Reading<T>,
): Reading<readonly T[]> {
  if (list === undefined || list === null) return { ok: true, value: [] };
  if (!Array.isArray(list)) return problem(`${where} is ${describeJson(list)}, and must be a list`);
  if (list.length > max) return problem(`${where} has ${list.length} entries; Plexus allows ${max}`);
  const found: T[] = [];
  for (const [index, each] of list.entries()) {
    const value = read(each, `${where}[${index}]`);
    if (!value.ok) return value;
    found.push(value.value);
  }
  return { ok: true, value: found };
}

function readRule(object: unknown, where: string, member: "from" | "to"): Reading<PolicyRule> {
  if (!isJsonObject(object)) return problem(`${where} is ${describeJson(object)}, and must be an object`);
  const peers = readList(object[member], `${where}.${member}`, maxParts, readPeer);
  if (!peers.ok) return peers;
  const ports = readList(object["ports"], `${where}.ports`, maxParts, readPolicyPort);
  if (!ports.ok) return ports;
  return { ok: true, value: { peers: peers.value, ports: ports.value } };
}

/** A peer with an `ipBlock` has no selectors. A peer without any member is refused: it could mean all or none. */
function readPeer(object: unknown, where: string): Reading<PodPeer | BlockPeer> {
  if (!isJsonObject(object)) return problem(`${where} is ${describeJson(object)}, and must be an object`);
  const [ipBlock, podSelector, namespaceSelector] = ["ipBlock", "podSelector", "namespaceSelector"].map(
    (member) => object[member] ?? undefined,
  );
  if (ipBlock !== undefined) {
    if (podSelector !== undefined || namespaceSelector !== undefined) return problem(`${where} has ipBlock and a selector`);
    const block = readIpBlock(ipBlock, `${where}.ipBlock`);
    return block.ok ? { ok: true, value: { kind: "block", block: block.value } } : block;
  }
  if (podSelector === undefined && namespaceSelector === undefined) {
    return problem(`${where} has none of ipBlock, podSelector and namespaceSelector`);
  }
  const pods = readSelector(podSelector ?? {}, `${where}.podSelector`);
  if (!pods.ok) return pods;
  if (namespaceSelector === undefined) return { ok: true, value: { kind: "pods", namespaces: undefined, pods: pods.value } };
  const namespaces = readSelector(namespaceSelector, `${where}.namespaceSelector`);
  if (!namespaces.ok) return namespaces;
  return { ok: true, value: { kind: "pods", namespaces: namespaces.value, pods: pods.value } };
}
