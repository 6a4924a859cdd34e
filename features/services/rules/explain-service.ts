// Why a Service on a further network has the endpoints that it has, or none: each selected pod with the reason.

import { isJsonObject } from "../../../src/json/document.ts";
import { readAddress } from "../../../src/net/ip.ts";
import { labelsOf } from "../../../src/npwg/pod.ts";
import { endpointGroups, isEndpointAddress, isServed } from "./endpoint.ts";
import { addressesOn, isSelected, type MemberPod, networksOf, readMemberPod } from "./member-pod.ts";
import { networkAnnotation, type NetworkService, readService, selectorAnnotation } from "./service.ts";
import { manager, readSlice } from "./service-slice.ts";

/** A selected pod. */
export interface ExplainedEndpoint {
  /** The pod's name. */
  readonly pod: string;
  /** Whether the Service's slices are to have the pod. */
  readonly isEndpoint: boolean;
  /** Whether connections go there; a pod that terminates may still get some. */
  readonly isReady: boolean;
  /** The state as the rest of a sentence that begins with the pod's name. */
  readonly why: string;
}

/** The explanation. */
export interface ServiceExplanation {
  /** `namespace/name`. */
  readonly service: string;
  /** The network; undefined if the Service names none that can be read. */
  readonly network?: string;
  readonly clusterIps: readonly string[];
  readonly pods: readonly ExplainedEndpoint[];
  /** Addresses in the slices that Plexus wrote. */
  readonly written: number;
  /** Sentences about what is wrong. */
  readonly problems: readonly string[];
}

/** Explains a Service by its object, the objects of its namespace's pods, and those of its slices. `hasNode`: whether the cluster has a node. */
export function explainService(
  object: unknown,
  pods: readonly unknown[],
  slices: readonly unknown[],
  hasNode: (node: string) => boolean = () => true,
): ServiceExplanation {
  const read = readService(object);
  const own = slices.flatMap((each) => readSlice(each) ?? []).filter(({ managedBy }) => managedBy === manager);
  const written = own.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  const base = { service: serviceName(object), clusterIps: [], pods: [], written };
  if (read === undefined)
    return { ...base, problems: [`the Service is on the cluster's own network: it has no annotation ${networkAnnotation}`] };
  if ("problem" in read) return { ...base, problems: [`Plexus writes no endpoints: ${read.problem}`] };
  const { network, selector, clusterIps, namespace } = read;
  const service = { ...base, network, clusterIps };
  if (selector.length === 0)
    return {
      ...service,
      problems: [`no pod is selected: the annotation ${selectorAnnotation} is empty, so the Service's author writes its slices`],
    };
  const explained = pods
    .filter((pod) => isSelected(labelText(pod), selector))
    .map((pod) => explainPod(read, pod, hasNode))
    .toSorted((one, other) => (one.pod < other.pod ? -1 : 1));
  const problems: string[] = [];
  if (explained.length === 0) problems.push(`no pod of namespace ${namespace} has the labels ${selector.join(", ")}`);
  else if (!explained.some(({ isReady }) => isReady)) problems.push(`none of the selected pods is a ready endpoint`);
  if (own.length === 0)
    problems.push("plexus-controller has written no slice for the Service: does it run, with --network-services?");
  else if (written === 0 && explained.some(({ isEndpoint }) => isEndpoint))
    problems.push("the slices lack the pods: plexus-controller is behind, or cannot write");
  return { ...service, pods: explained, problems };
}

function explainPod(service: NetworkService, object: unknown, hasNode: (node: string) => boolean): ExplainedEndpoint {
  const metadata = isJsonObject(object) && isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const name = typeof metadata["name"] === "string" ? metadata["name"] : "";
  const pod = readMemberPod(object);
  const absent = (why: string): ExplainedEndpoint => ({ pod: name, isEndpoint: false, isReady: false, why });
  if (pod === undefined) return absent("has ended, or its network status names no further network with addresses");
  const isGone = pod.node !== "" && !service.publishesNotReady && !hasNode(pod.node);
  const missing = isGone ? `is on the node ${pod.node}, which the cluster has no longer` : absence(service, pod);
  if (missing !== undefined) return absent(missing);
  const addresses = addressesOn(pod, service.network) ?? [];
  const own = addresses.filter((each) => isOfFamily(service, each) && isUsable(each));
  const isReady = service.publishesNotReady || (pod.isReady && !pod.isTerminating);
  const state = isReady ? "is ready" : pod.isTerminating ? "terminates" : "is not ready: its condition Ready is not True";
  return { pod: name, isEndpoint: true, isReady, why: `${state}, with ${own.join(", ")}` };
}

/** Why a pod is no endpoint; undefined if it is one. */
function absence(service: NetworkService, pod: MemberPod): string | undefined {
  const on = addressesOn(pod, service.network);
  if (on === undefined) return `is not on the network: it is on ${networksOf(pod).join(", ")}`;
  if (!on.some((each) => isOfFamily(service, each))) {
    const wanted = service.families.map((family) => `IPv${family}`).join(" and ");
    return `has no ${wanted} address on the network, only ${on.join(", ")}`;
  }
  if (!on.some((each) => isOfFamily(service, each) && isUsable(each)))
    return `has only ${on.join(", ")} on the network: no EndpointSlice may have a loopback or link-local address`;
  const [group] = endpointGroups(service, [{ name: "", pod }], () => "");
  if (service.ports.length === 0 || (group?.ports.length ?? 0) > 0) return undefined;
  const named = service.ports.map(({ target }) => String(target));
  return `has no port of the Service: no container has a port named ${named.join(" or ")}`;
}

function isOfFamily(service: NetworkService, address: string): boolean {
  const read = readAddress(address);
  return read !== undefined && isServed(service, read);
}

function isUsable(address: string): boolean {
  const read = readAddress(address);
  return read !== undefined && isEndpointAddress(read);
}

function labelText(object: unknown): string {
  return `\n${[...labelsOf(object)].map(([key, value]) => `${key}=${value}\n`).join("")}`;
}

function serviceName(object: unknown): string {
  const metadata = isJsonObject(object) && isJsonObject(object["metadata"]) ? object["metadata"] : {};
  return `${String(metadata["namespace"])}/${String(metadata["name"])}`;
}
