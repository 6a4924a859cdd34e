// The objects of the API that the commands about policies read.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { labelsOf, readPod } from "../../../src/npwg/pod.ts";
import type { ApiObject, ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { policiesPath } from "../node/policy-source.ts";
import type { ExplainedPod } from "../rules/explain.ts";
import { podAddresses } from "../../../src/npwg/pod-addresses.ts";
import { type Policy, readPolicy, type UnreadablePolicy } from "../rules/policy.ts";
import { namedPorts } from "../../../src/kube/named-ports.ts";

/** The policies of a namespace; undefined: of all namespaces. A cluster without the kind has none. Fault API_REFUSED. */
export async function readPolicies(
  objects: ApiObjects,
  namespace?: string,
): Promise<Result<readonly (Policy | UnreadablePolicy)[]>> {
  const listed = await objects.list(policiesPath(namespace));
  if (listed.kind === "absent") return ok([]);
  if (listed.kind !== "list") return failed(fault("API_REFUSED", `MultiNetworkPolicies: ${listed.why}`));
  return ok(listed.items.flatMap((item) => readPolicy(item, "MultiNetworkPolicy") ?? []));
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
  const addresses = podAddresses((key) => annotations.get(key)).get(network) ?? [];
  return ok({ namespace, name, labels, namespaceLabels: labelsOf(owner.value), ports: namedPorts(pod.value), addresses });
}

async function readObject(objects: ApiObjects, path: string, what: string): Promise<Result<ApiObject>> {
  const answer = await objects.get(path);
  return answer.kind === "object" ? ok(answer.object) : failed(fault("API_REFUSED", `${what}: ${answer.why}`));
}
