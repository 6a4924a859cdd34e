// The devices that a resource claim has allocated, for one pod (Kubernetes API resource.k8s.io/v1, ResourceClaim).

import { quote } from "../../../src/json/quote.ts";
import { subdomainProblem } from "../../../src/npwg/object-names.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { objectIn, objectsIn, textIn } from "./reading.ts";

/** One device that a claim has allocated. Driver, pool and device together name the device. */
export interface AllocatedDevice {
  /** The request of the claim that the device fulfils. */
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  /** The share of a device that several claims may have; empty if the device is the claim's alone. */
  readonly shareId: string;
}

/** A pod as a claim names it. */
export interface ClaimingPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Kubernetes' own maxima (AllocationResultsMaxSize, ResourceClaimReservedForMaxSize). */
const maxResults = 32;
const maxReservedFor = 256;
/** Kubernetes' maximum of a driver's name, and of the name of a pool, in characters. */
const maxDriverName = 63;
const maxPoolName = 253;

/**
 * The devices of a claim, in the order of its allocation. Problem: the claim is another object, is not reserved for the pod, or is not
 * allocated. A device with admin access is left out: it may be in use by another pod.
 */
export function allocatedTo(claim: unknown, name: string, pod: ClaimingPod): Reading<readonly AllocatedDevice[]> {
  const metadata = objectIn(claim, "metadata");
  if (textIn(metadata, "name") !== name || textIn(metadata, "namespace") !== pod.namespace)
    return problem(`was asked for, but the API answered with ${quote(textIn(metadata, "name"), 64)}`);
  const status = objectIn(claim, "status");
  const reserved = objectsIn(status, "reservedFor", maxReservedFor);
  if (!reserved.ok) return problem(`cannot be read: status.${reserved.problem}`);
  if (!reserved.value.some((consumer) => isPod(consumer, pod)))
    return problem("is not reserved for the pod: status.reservedFor does not have the pod's uid");
  if (!isJsonObject(status["allocation"])) return problem("has no allocated device: status.allocation is absent");
  const results = objectsIn(objectIn(status["allocation"], "devices"), "results", maxResults);
  if (!results.ok) return problem(`cannot be read: status.allocation.devices.${results.problem}`);
  const devices: AllocatedDevice[] = [];
  for (const result of results.value) {
    if (result["adminAccess"] === true) continue;
    const device = readResult(result);
    if (!device.ok) return device;
    devices.push(device.value);
  }
  return { ok: true, value: devices };
}

function isPod(consumer: Readonly<Record<string, unknown>>, { name, uid }: ClaimingPod): boolean {
  return (
    textIn(consumer, "apiGroup") === "" &&
    textIn(consumer, "resource") === "pods" &&
    textIn(consumer, "name") === name &&
    textIn(consumer, "uid") === uid &&
    uid !== ""
  );
}

function readResult(result: Readonly<Record<string, unknown>>): Reading<AllocatedDevice> {
  const [driver, pool, device] = [textIn(result, "driver"), textIn(result, "pool"), textIn(result, "device")];
  // The driver's name becomes part of a request's field selector.
  if (driver.length > maxDriverName || subdomainProblem(driver) !== undefined)
    return problem(`has a device of the driver ${quote(driver, 64)}, which is no driver's name`);
  if (pool === "" || pool.length > maxPoolName || device === "" || device.length > maxDriverName)
    return problem(`has a device ${quote(device, 64)} of the pool ${quote(pool, 64)}: one of these names is no name`);
  return { ok: true, value: { request: textIn(result, "request"), driver, pool, device, shareId: textIn(result, "shareID") } };
}
