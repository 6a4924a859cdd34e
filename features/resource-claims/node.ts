// The devices of a pod's resource claims from the Kubernetes API (resource.k8s.io/v1, Kubernetes 1.34 or newer), for one call of a runtime.
// The kubelet's pod-resources service also reports them, but not whether a device is another pod's, seen with admin access, and not those of a
// claim that no container names. So the claims themselves are read.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { parseDocument } from "../../src/json/document.ts";
import { readListPage } from "../../src/kube/object-list.ts";
import { checkPodUid, readPod } from "../../src/npwg/pod.ts";
import { type AllocatedDevice, allocatedTo } from "./rules/claim-allocation.ts";
import { ClaimedDevices, type PublishedDevice, usableDevices } from "./rules/claimed-devices.ts";
import { type PodClaims, readPodClaims } from "./rules/pod-claims.ts";
import { NodeDevices } from "./rules/slice-devices.ts";
import type { PodOfCall } from "../../host/cluster/cluster.ts";
import type { ApiCaller } from "../../host/cluster/object-source.ts";
import { statusMessage } from "../../host/cluster/kube/api-client.ts";

const group = "/apis/resource.k8s.io/v1";

/** Slices in a page, and pages: a slice may have 400 KB, and an answer 4 MiB. */
const pageSize = 8;
const maxPages = 16;

/** Drivers of one pod's claims: each needs a list of its slices. */
const maxDrivers = 8;

/** An allocated device, with the extended resources that it stands for. */
type Allocated = Pick<PublishedDevice, "allocated" | "extendedResources">;

/** The devices of the pod's claims; none if the pod has no claim. Faults: RESOURCE_CLAIM_UNUSABLE, POD_NOT_FOUND, and those of the API. */
export async function claimedDevices(api: ApiCaller, pod: PodOfCall): Promise<Result<ClaimedDevices>> {
  const devices = await readDevices(api, pod);
  if (devices.ok || devices.fault.kind !== "API_FORBIDDEN") return devices;
  const needed =
    "kubernetes.resourceClaims needs the rights of deploy/rbac-resource-claims.yaml (in the chart: dynamicResources.enabled)";
  return failed({ ...devices.fault, msg: `${devices.fault.msg}; ${needed}` });
}

async function readDevices(api: ApiCaller, pod: PodOfCall): Promise<Result<ClaimedDevices>> {
  const claims = await claimsOf(api, pod);
  if (!claims.ok) return claims;
  const { claims: names, extended, nodeName, uid } = claims.value;
  const allocated: Allocated[] = [];
  for (const [claim, resources] of [
    ...names.map((name) => [name, undefined] as const),
    ...(extended === undefined ? [] : [[extended.claim, extended.resources] as const]),
  ]) {
    const devices = await devicesOf(api, { ...pod, uid }, claim);
    if (!devices.ok) return devices;
    for (const device of devices.value)
      allocated.push({ allocated: device, extendedResources: resources?.get(device.request) ?? [] });
  }
  if (allocated.length === 0) return ok(new ClaimedDevices([]));
  return publishedDevices(api, pod, nodeName, allocated);
}

async function claimsOf(api: ApiCaller, { namespace, name, uid }: PodOfCall): Promise<Result<PodClaims>> {
  const podName = `pod ${namespace}/${name}`;
  const object = await read(api, `/api/v1/namespaces/${namespace}/pods/${name}`);
  if (!object.ok) return object;
  if ("absent" in object.value) return failed(fault("POD_NOT_FOUND", `${podName}: not found in the Kubernetes API`));
  const pod = readPod(object.value.object);
  if (!pod.ok) return pod;
  const isNamed = pod.value.namespace === namespace && pod.value.name === name;
  if (!isNamed) return failed(fault("API_REFUSED", `${podName}: the Kubernetes API answered with another object`));
  const same = checkPodUid(pod.value, uid);
  if (!same.ok) return same;
  const claims = readPodClaims(object.value.object);
  return claims.ok ? ok(claims.value) : unusable(`${podName} ${claims.problem}`);
}

async function devicesOf(
  api: ApiCaller,
  pod: { readonly namespace: string; readonly name: string; readonly uid: string },
  claim: string,
): Promise<Result<readonly AllocatedDevice[]>> {
  const claimName = `resource claim ${pod.namespace}/${claim} of pod ${pod.name}`;
  const object = await read(api, `${group}/namespaces/${pod.namespace}/resourceclaims/${claim}`);
  if (!object.ok) return object;
  if ("absent" in object.value) return unusable(`${claimName} is not in the API resource.k8s.io/v1${object.value.absent}`);
  const devices = allocatedTo(object.value.object, claim, pod);
  return devices.ok ? ok(devices.value) : unusable(`${claimName} ${devices.problem}`);
}

async function publishedDevices(
  api: ApiCaller,
  pod: PodOfCall,
  nodeName: string,
  allocated: readonly Allocated[],
): Promise<Result<ClaimedDevices>> {
  const drivers = new Set(allocated.map((each) => each.allocated.driver));
  if (drivers.size > maxDrivers)
    return unusable(`pod ${pod.namespace}/${pod.name} has claimed devices of more than ${maxDrivers} drivers`);
  const byDriver = new Map<string, NodeDevices>();
  for (const driver of drivers) {
    const devices = await nodeDevices(api, driver, nodeName);
    if (!devices.ok) return devices;
    byDriver.set(driver, devices.value);
  }
  const published: PublishedDevice[] = [];
  for (const each of allocated) {
    const { driver, pool, device } = each.allocated;
    const attributes = byDriver.get(driver)?.find(pool, device);
    if (attributes === undefined && byDriver.get(driver)?.isIncomplete(pool) === true)
      return unusable(
        `device ${pool}/${device}: driver ${driver} is still publishing the pool's ResourceSlices for node ${nodeName}`,
      );
    published.push({ ...each, attributes });
  }
  return ok(usableDevices(published));
}

async function nodeDevices(api: ApiCaller, driver: string, nodeName: string): Promise<Result<NodeDevices>> {
  const what = `ResourceSlices of driver ${driver} on node ${nodeName}`;
  const devices = new NodeDevices(driver, nodeName);
  const fieldSelector = `spec.driver=${driver},spec.nodeName=${nodeName}`;
  for (let pages = 0, next = ""; pages < maxPages; pages++) {
    const query = new URLSearchParams({ fieldSelector, limit: String(pageSize), ...(next === "" ? {} : { continue: next }) });
    const answer = await api.call({ method: "GET", path: `${group}/resourceslices?${query.toString()}` });
    if (!answer.ok) return answer;
    const { status, body } = answer.value;
    if (status >= 300) return unusable(`${what}: HTTP ${status}${statusMessage(body)}`);
    const page = readListPage(body);
    if (page === undefined) return failed(fault("API_REFUSED", `${what}: the Kubernetes API's answer is not a list`));
    for (const slice of page.items) {
      const added = devices.add(slice);
      if (!added.ok) return unusable(`${what}: ${added.problem}`);
    }
    if (page.next === "") return ok(devices);
    next = page.next;
  }
  return unusable(`${what}: there are more than ${maxPages * pageSize}`);
}

/** An object, or the API's message that there is none. */
async function read(api: ApiCaller, path: string): Promise<Result<{ readonly object: unknown } | { readonly absent: string }>> {
  const answer = await api.call({ method: "GET", path });
  if (!answer.ok) return answer;
  const { status, body } = answer.value;
  if (status >= 300) return ok({ absent: statusMessage(body) });
  const document = parseDocument(body, { what: `the Kubernetes API's answer for ${path}`, kind: "API_REFUSED" });
  return document.ok ? ok({ object: document.value.parsed }) : document;
}

function unusable(why: string): Result<never> {
  return failed(fault("RESOURCE_CLAIM_UNUSABLE", why));
}
