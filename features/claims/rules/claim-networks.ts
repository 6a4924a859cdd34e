// The networks of an allocated claim: each device of this driver, with the configurations of its class and of the claim (resource.k8s.io/v1,
// ResourceClaim.status.allocation).

import { isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { driverName } from "./names.ts";
import { type NetworkParameters, type NetworkSource, readNetworkParameters } from "./network-parameters.ts";

/** One device of a claim. */
export interface ClaimDevice {
  /** The claim's request; of a request with alternatives, `request/alternative`. */
  readonly request: string;
  readonly pool: string;
  readonly device: string;
  /** The share of a device that several claims have; empty for the device itself. */
  readonly shareId: string;
}

/** One device of a claim, and the attachment that it means. */
export interface ClaimNetwork extends ClaimDevice {
  readonly source: NetworkSource;
  /** Whether the class, which only an administrator writes, names the network. */
  readonly isOfClass: boolean;
  readonly interface?: string;
  readonly ips?: readonly string[];
  readonly mac?: string;
  /** The AddressPool that has the attachment's addresses. */
  readonly addressPool?: string;
}

/** An allocated claim. */
export interface AllocatedClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The uids of the pods that may use the claim. */
  readonly pods: readonly string[];
  /** Whether further pods may come: the claim was not made from a pod's template. */
  readonly isShareable: boolean;
  readonly networks: readonly ClaimNetwork[];
  /** Devices without any configuration: a network of the pod's annotation takes them by its definition's resource name. */
  readonly devices: readonly ClaimDevice[];
}

/** Kubernetes' own maxima (AllocationResultsMaxSize, ResourceClaimReservedForMaxSize, DeviceConfigMaxSize of class and claim). */
const maxResults = 32;
const maxPods = 256;
const maxConfigs = 64 * maxResults;

interface Configuration {
  readonly where: string;
  readonly isOfClass: boolean;
  /** Empty: all requests. */
  readonly requests: readonly string[];
  readonly parameters: NetworkParameters;
}

/** Reads a claim that the kubelet names. Problem: it is another claim, is not allocated, or a configuration cannot be used. */
export function readAllocatedClaim(
  object: unknown,
  expected: { readonly namespace: string; readonly name: string; readonly uid: string },
): Reading<AllocatedClaim> {
  const metadata = memberOf(object, "metadata");
  const { namespace, name, uid } = expected;
  if (metadata["uid"] !== uid) return problem(`has uid ${shown(metadata["uid"])}, but the kubelet means ${quote(uid, 60)}`);
  const status = memberOf(object, "status");
  if (!isJsonObject(status["allocation"])) return problem("is not allocated: status.allocation is absent");
  const devices = memberOf(status["allocation"], "devices");
  const configurations = readConfigurations(listOf(devices["config"], maxConfigs), namespace);
  if (!configurations.ok) return configurations;
  const networks: ClaimNetwork[] = [];
  const unconfigured: ClaimDevice[] = [];
  for (const result of listOf(devices["results"], maxResults)) {
    // Admin access means to look at a device that another pod uses, so nothing is attached by it.
    if (result["driver"] !== driverName || result["adminAccess"] === true) continue;
    const network = networkOf(result, configurations.value);
    if (!network.ok) return network;
    if ("source" in network.value) networks.push(network.value);
    else unconfigured.push(network.value);
  }
  const named = networks.filter((each) => each.interface !== undefined);
  const twice = named.find((each) => named.some((other) => other !== each && other.interface === each.interface));
  if (twice !== undefined)
    return problem(`gives the interface name ${quote(twice.interface ?? "", 20)} to two devices; name each otherwise`);
  const consumers = listOf(status["reservedFor"], maxPods).filter((each) => each["resource"] === "pods");
  return {
    ok: true,
    value: {
      namespace,
      name,
      uid,
      pods: consumers.flatMap((each) => (typeof each["uid"] === "string" ? [each["uid"]] : [])),
      isShareable: !listOf(metadata["ownerReferences"], maxPods).some(
        (each) => each["kind"] === "Pod" && each["controller"] === true,
      ),
      networks,
      devices: unconfigured,
    },
  };
}

/** Whether a claim of the API is reserved for the pod. */
export function isReservedFor(object: unknown, podUid: string): boolean {
  const reserved = listOf(memberOf(object, "status")["reservedFor"], maxPods);
  return reserved.some((each) => each["resource"] === "pods" && each["uid"] === podUid);
}

/** Whether a claim of the API is reserved for a PodGroup (KEP-5729), which names none of its pods. */
export function isReservedForGroup(object: unknown): boolean {
  const reserved = listOf(memberOf(object, "status")["reservedFor"], maxPods);
  return reserved.some((each) => each["apiGroup"] === "scheduling.k8s.io" && each["resource"] === "podgroups");
}

/** The configurations for this driver, in the API's order: those of the classes, then those of the claim. */
function readConfigurations(
  list: readonly Readonly<Record<string, unknown>>[],
  namespace: string,
): Reading<readonly Configuration[]> {
  const read: Configuration[] = [];
  for (const [index, entry] of list.entries()) {
    const opaque = memberOf(entry, "opaque");
    if (opaque["driver"] !== driverName) continue;
    const isOfClass = entry["source"] === "FromClass";
    const where = `status.allocation.devices.config[${index}] (from the ${isOfClass ? "class" : "claim"})`;
    const parameters = readNetworkParameters(opaque["parameters"], namespace);
    if (!parameters.ok) return problem(`has ${where}: opaque.${parameters.problem}`);
    const requests = Array.isArray(entry["requests"]) ? entry["requests"].filter((each) => typeof each === "string") : [];
    read.push({ where, isOfClass, requests, parameters: parameters.value });
  }
  return { ok: true, value: [...read.filter((each) => each.isOfClass), ...read.filter((each) => !each.isOfClass)] };
}

function networkOf(
  result: Readonly<Record<string, unknown>>,
  configurations: readonly Configuration[],
): Reading<ClaimNetwork | ClaimDevice> {
  const [request, pool, device] = [textOf(result["request"]), textOf(result["pool"]), textOf(result["device"])];
  let merged: NetworkParameters = {};
  let ofClass: NetworkParameters = {};
  let named: Configuration | undefined;
  let pooled: Configuration | undefined;
  const shareId = textOf(result["shareID"]);
  const own = configurations.filter(({ requests }) => appliesTo(requests, request));
  if (own.length === 0) return { ok: true, value: { request, pool, device, shareId } };
  for (const each of own) {
    const { source, addressPool } = each.parameters;
    const refused = (done: string, alreadyDone: string): Reading<ClaimNetwork> =>
      problem(`has ${each.where}: it ${done} for request ${quote(request, 60)}, but its class ${alreadyDone} already; remove it`);
    // The class is the administrator's choice. A claim that could replace its network would make the right to the class worthless.
    if (!each.isOfClass) {
      if (source !== undefined && named?.isOfClass === true) return refused("names a network", "names one");
      if (addressPool !== undefined && pooled?.isOfClass === true) return refused("names a pool", "names one");
      const replaced = (["ips", "mac"] as const).find((key) => ofClass[key] !== undefined && each.parameters[key] !== undefined);
      if (replaced !== undefined) return refused(`sets ${replaced}`, `sets ${replaced}`);
    } else ofClass = { ...ofClass, ...each.parameters };
    if (source !== undefined) named = each;
    if (addressPool !== undefined) pooled = each;
    merged = { ...merged, ...each.parameters };
  }
  const { source, ...requests } = merged;
  if (source === undefined) return problem(noNetwork(request));
  return { ok: true, value: { request, pool, device, shareId, source, isOfClass: named?.isOfClass === true, ...requests } };
}

/** The problem of a request without a network. */
export function noNetwork(request: string): string {
  return `names no network for request ${quote(request, 60)}: give its class or the claim an opaque configuration of driver ${driverName} with definition, podNetwork or list`;
}

/** A configuration for a request is also for each of the request's alternatives. */
function appliesTo(requests: readonly string[], request: string): boolean {
  return requests.length === 0 || requests.includes(request) || requests.includes(request.split("/")[0] ?? "");
}

function memberOf(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const member = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isJsonObject(member) ? member : {};
}

function listOf(value: unknown, max: number): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value)
    ? value.slice(0, max).filter((each: unknown): each is Readonly<Record<string, unknown>> => isJsonObject(each))
    : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : "none";
}
