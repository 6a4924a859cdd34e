// Decides the table of a pod: finds the policies of its interfaces, and the addresses of their peers.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { readPod } from "../../../src/npwg/pod.ts";
import type { Cluster } from "../../../host/cluster/cluster.ts";
import type { GuardedInterface, GuardedPod } from "../../../host/engine/planned/plan-feature.ts";
import { appliedPolicies, type PodInterface } from "../rules/applied-policies.ts";
import { type IsolatedInterface, tableBounds } from "../rules/compile.ts";
import { omittedText } from "../rules/peer-shares.ts";
import { policyText } from "../rules/policy.ts";
import { podNetworkPrefix } from "../../../src/npwg/network-name.ts";
import { type NamedPort, namedPorts } from "../../../src/kube/named-ports.ts";
import { hasIpv6Peers, type PolicyTable } from "../rules/table.ts";
import { compiledTable, queryIds } from "./compiled-tables.ts";
import { knownPolicies, writtenTable } from "./guarded-pods.ts";
import { policyObjects } from "./policy-objects.ts";
import type { KeptPolicy, PolicySource } from "./policy-source.ts";

/** The part of a call that the decision needs. */
export interface DecisionContext {
  readonly configuration: Pick<HostConfiguration, "cniDir" | "policies">;
  readonly warn: (text: string) => void;
}

/** The table of the pod; undefined if no policy selects it. Fault POLICY_FAILED. */
export async function decideTable(
  { configuration, warn }: DecisionContext,
  { cluster, pod, interfaces, containerId, netns }: GuardedPod,
): Promise<Result<PolicyTable | undefined>> {
  const { namespace, labels = new Map<string, string>() } = pod;
  const direct = await cluster.objects?.(policyObjects);
  if (direct === undefined)
    return failed(policyFault("a directory of manifests has no policies; set kubeconfig instead of manifests"));
  const source = knownPolicies(configuration.cniDir).over(direct, (why) => {
    warn(`policies of namespace ${namespace}: the last known ones are used: ${why}`);
  });
  const policies = await policiesOf(source, namespace, interfaces);
  if (!policies.ok) return failed(policyFault(`namespace ${namespace}: ${policies.fault.msg}`));
  const isolated: IsolatedInterface[] = [];
  for (const link of interfaces.map(podInterface)) {
    const applied = appliedPolicies(
      policies.value.map(({ policy }) => policy),
      { namespace, labels },
      link,
    );
    const [bad] = applied.unreadable;
    if (bad !== undefined)
      return failed(policyFault(`${policyText(bad.policy)} for network ${bad.network}: ${bad.policy.problem}`));
    if (applied.policies.length > 0) isolated.push({ link, policies: applied.policies });
  }
  if (isolated.length === 0) return ok(undefined);
  const queries = queryIds(isolated);
  if (!queries.ok) return failed(policyFault(`pod ${namespace}/${pod.name}: ${queries.problem}`));
  const slices = await source.slices(namespace, queries.value);
  if (!slices.ok) return failed(policyFault(slices.fault.msg));
  const ports = await ownPorts(cluster, pod, isolated);
  if (!ports.ok) return ports;
  const established = configuration.policies?.established ?? "keep";
  const written = writtenTable(containerId, netns)?.table;
  const keepsIpv6 = written !== undefined && hasIpv6Peers(written);
  const table = compiledTable({ interfaces: isolated, ports: ports.value, slices: slices.value, established, keepsIpv6 });
  if (!table.ok) return failed(policyFault(`pod ${namespace}/${pod.name}: ${table.problem}`));
  const omitted = table.value?.omitted ?? [];
  if (omitted.length > 0) warn(omittedWarning(`${namespace}/${pod.name}`, omittedText(omitted, namespace)));
  return ok(table.value);
}

function omittedWarning(pod: string, omitted: string): string {
  return `policies of pod ${pod}: more than ${tableBounds.elements} peers; each namespace of peers has a share, and these peers beyond it are not allowed: ${omitted}`;
}

/** The policies of the namespace; NetworkPolicies only for a pod on a PodNetwork, because they are for no other network. */
async function policiesOf(
  source: PolicySource,
  namespace: string,
  interfaces: readonly GuardedInterface[],
): Promise<Result<readonly KeptPolicy[]>> {
  const multi = await source.policies(namespace);
  if (!multi.ok || interfaces.every(({ podNetwork }) => podNetwork === undefined)) return multi;
  const plain = await source.networkPolicies(namespace);
  return plain.ok ? ok([...multi.value, ...plain.value]) : plain;
}

/** The fault of policies that cannot be read or applied. */
export function policyFault(why: string): Fault {
  return fault("POLICY_FAILED", `policies: ${why}`);
}

function podInterface({ ifname, source, podNetwork }: GuardedInterface): PodInterface {
  const networks = podNetwork === undefined ? [source] : [source, `${podNetworkPrefix}${podNetwork}`];
  return { ifname, networks };
}

/** The named ports of the pod's containers, read only if an ingress rule names a port. */
async function ownPorts(
  cluster: Cluster,
  { namespace, name, uid }: GuardedPod["pod"],
  isolated: readonly IsolatedInterface[],
): Promise<Result<readonly NamedPort[]>> {
  const rules = isolated.flatMap(({ policies }) => policies.flatMap(({ policy }) => policy.ingress ?? []));
  const areNamed = rules.some(({ ports }) => ports.some(({ port }) => port !== undefined && "name" in port));
  if (!areNamed) return ok([]);
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const answer = await cluster.api?.call({ method: "GET", path });
  const why = `the named ports of pod ${namespace}/${name} cannot be read`;
  if (answer?.ok !== true) return failed(policyFault(answer === undefined ? why : `${why}: ${answer.fault.msg}`));
  const document = parseDocument(answer.value.body, { what: `the Kubernetes API's answer for ${path}`, kind: "API_REFUSED" });
  if (answer.value.status >= 300 || !document.ok) return failed(policyFault(`${why}: HTTP ${answer.value.status}`));
  const { parsed } = document.value;
  const current = readPod(parsed);
  // Another pod of the same name may have other ports.
  if (!current.ok || current.value.uid !== uid) return failed(policyFault(`${why}: the API has another pod of this name`));
  return ok(namedPorts(parsed));
}
