// The objects of the API that the commands about policies read.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { labelsOf, readPod } from "../../../src/npwg/pod.ts";
import type { ApiObject, ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { policiesPath } from "../node/policy-source.ts";
import { askingNetworks, networkPoliciesPath, podNetworksPath, readAsker, readNetworkPolicy } from "../rules/network-policies.ts";
import type { ExplainedPod } from "../rules/explain.ts";
import { interfaceNames, podAddresses } from "../../../src/npwg/pod-addresses.ts";
import { boundedPolicy } from "../rules/policy-bounds.ts";
import { type Policy, readPolicy, type UnreadablePolicy } from "../rules/policy.ts";
import { namedPorts } from "../../../src/kube/named-ports.ts";

/** The policies on further networks of a namespace; undefined: of all namespaces. A cluster without a kind has none of it. Fault API_REFUSED. */
export async function readPolicies(
  objects: ApiObjects,
  namespace?: string,
): Promise<Result<readonly (Policy | UnreadablePolicy)[]>> {
  const multi = await listOf(objects, policiesPath(namespace), "MultiNetworkPolicies");
  if (!multi.ok) return multi;
  const podNetworks = await listOf(objects, podNetworksPath, "PodNetworks");
  if (!podNetworks.ok) return podNetworks;
  const networks = askingNetworks(podNetworks.value.flatMap((item) => readAsker(item) ?? []));
  const plain = networks.length === 0 ? ok([]) : await listOf(objects, networkPoliciesPath(namespace), "NetworkPolicies");
  if (!plain.ok) return plain;
  const policies = [
    ...multi.value.flatMap((item) => readPolicy(item, "MultiNetworkPolicy") ?? []),
    ...plain.value.flatMap((item) => readNetworkPolicy(item, networks) ?? []),
  ];
  return ok(policies.map(boundedPolicy));
}

async function listOf(objects: ApiObjects, path: string, what: string): Promise<Result<readonly unknown[]>> {
  const listed = await objects.list(path);
  if (listed.kind === "absent") return ok([]);
  return listed.kind === "list" ? ok(listed.items) : failed(fault("API_REFUSED", `${what}: ${listed.why}`));
}

/** A pod with its addresses on a network. Fault API_REFUSED. */
export async function readExplainedPod(objects: ApiObjects, text: string, network: string): Promise<Result<ExplainedPod>> {
  const slash = text.indexOf("/");
  const [namespace, name] = slash === -1 ? ["default", text] : [text.slice(0, slash), text.slice(slash + 1)];
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const pod = await readObject(objects, `${path}/pods/${encodeURIComponent(name)}`, `pod ${namespace}/${name}`);
  if (!pod.ok) return pod;
  const owner = await readObject(objects, path, `namespace ${namespace}`);
  if (!owner.ok) return owner;
  const read = readPod(pod.value);
  if (!read.ok) return read;
  const { labels = new Map<string, string>(), annotations } = read.value;
  const annotation = (key: string): string | undefined => annotations.get(key);
  const all = podAddresses(annotation);
  const networks = new Map(interfaceNames(annotation, network).map((each) => [each, all.get(each) ?? []]));
  const addresses = networks.get(network) ?? [];
  const namespaceLabels = labelsOf(owner.value);
  return ok({ namespace, name, labels, namespaceLabels, ports: namedPorts(pod.value), addresses, networks });
}

async function readObject(objects: ApiObjects, path: string, what: string): Promise<Result<ApiObject>> {
  const answer = await objects.get(path);
  return answer.kind === "object" ? ok(answer.object) : failed(fault("API_REFUSED", `${what}: ${answer.why}`));
}
