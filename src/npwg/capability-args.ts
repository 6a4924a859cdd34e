// A pod's requests to a network, as capability arguments (NPWG 4.1.2.1.3 to 4.1.2.1.11; CONVENTIONS.md "Well-known
// Capabilities").

import { fault, type Fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject, type JsonObjectDocument, memberText, memberTexts, memberValue } from "../json/document.ts";
import type { NetworkList } from "../cni/network-list.ts";
import type { Bandwidth, JsonMembers, NetworkSelection } from "./network-selection.ts";
import type { NpwgProfile } from "./profile.ts";

/** One request: the selection's key, the capability that fulfils it, and the JSON text of its value. */
interface CapabilityRequest {
  readonly key: string;
  readonly capability: string;
  readonly value: string;
}

/** Requests passed as capability arguments, and requests passed in `args.cni` because no plugin declares the capability. */
export interface SplitRequests {
  readonly capabilityArgs: JsonMembers;
  readonly cniArgs: JsonMembers;
}

/** Keys that version 1.0 passes in `args.cni` (N1-24, N1-27). */
const keysOfArgs = new Set(["ips", "mac"]);

/**
 * Matches the requests of `selection` with the capabilities of the plugins of `list`. A request for which no plugin declares the
 * capability fails the attachment (4.1.2.1.3.2 ff.). The profile can pass `ips` and `mac` in `args.cni` instead (D-02). Fault
 * CAPABILITY_MISSING names key, capability and network.
 *
 * The runtime's own `runtimeConfig` is not used here: only the default network gets it (7.5).
 */
export function splitRequests(selection: NetworkSelection, list: NetworkList, profile: NpwgProfile): Result<SplitRequests> {
  const declared = new Set(list.plugins.flatMap((plugin) => plugin.capabilities));
  const capabilityArgs = new Map<string, string>();
  const cniArgs = new Map<string, string>();
  for (const { key, capability, value } of requestsOf(selection)) {
    if (declared.has(capability)) capabilityArgs.set(capability, value);
    else if (profile.missingCapability === "args" && keysOfArgs.has(key)) cniArgs.set(key, value);
    else return failed(missing(key, capability, selection));
  }
  // Plugins may ignore these two, so a missing capability is not refused (4.1.2.1.11; D-09).
  if (selection.deviceId !== undefined && declared.has("deviceID")) {
    capabilityArgs.set("deviceID", JSON.stringify(selection.deviceId));
  }
  if (selection.ipamClaimReference !== undefined) {
    const claim = JSON.stringify(selection.ipamClaimReference);
    cniArgs.set("ipam-claim-reference", claim);
    if (declared.has("ipam-claim-reference")) capabilityArgs.set("ipam-claim-reference", claim);
  }
  return ok({ capabilityArgs, cniArgs });
}

/**
 * The capability arguments in the runtime's `runtimeConfig` for Plexus, with their exact texts. Only the default network gets
 * them (7.5). Fault CONFIG_INVALID if `runtimeConfig` is not an object.
 */
export function defaultNetworkCapabilityArgs(configuration: JsonObjectDocument): Result<JsonMembers> {
  const value = memberValue(configuration, "runtimeConfig");
  const text = memberText(configuration, "runtimeConfig");
  if (value === undefined || value === null || text === undefined) return ok(new Map());
  if (isJsonObject(value)) return ok(memberTexts(text));
  return failed(fault("CONFIG_INVALID", `configuration: runtimeConfig must be an object, but is ${describeJson(value)}`));
}

function requestsOf(selection: NetworkSelection): CapabilityRequest[] {
  const { ips, mac, portMappings, bandwidth, infinibandGuid } = selection;
  const requests: CapabilityRequest[] = [];
  const ask = (key: string, capability: string, value: unknown): void => {
    if (value !== undefined) requests.push({ key, capability, value: JSON.stringify(value) });
  };
  ask("ips", "ips", ips);
  ask("mac", "mac", mac);
  ask("portMappings", "portMappings", portMappings);
  ask("bandwidth", "bandwidth", bandwidth === undefined ? undefined : withBursts(bandwidth));
  ask("infiniband-guid", "infinibandGUID", infinibandGuid);
  return requests;
}

/** Bits of the largest segmentation-offloaded packet. */
const minBurst = 8 * 65_536;
/** The reference bandwidth plugin's maximum, in bits. */
const maxBurst = 4_294_967_295;

/**
 * Adds a burst to a rate without one, because the reference bandwidth plugin refuses a rate alone (4.1.2.1.8.2 leaves the
 * choice): a tenth of a second of the rate, within the bounds above.
 */
function withBursts({ ingressRate, ingressBurst, egressRate, egressBurst }: Bandwidth): Bandwidth {
  return {
    ingressRate,
    ingressBurst: ingressBurst ?? defaultBurst(ingressRate),
    egressRate,
    egressBurst: egressBurst ?? defaultBurst(egressRate),
  };
}

function defaultBurst(rate: number | undefined): number | undefined {
  return rate === undefined ? undefined : Math.min(Math.max(Math.ceil(rate / 10), minBurst), maxBurst);
}

function missing(key: string, capability: string, selection: NetworkSelection): Fault {
  const network = `${selection.namespace}/${selection.name}`;
  return fault(
    "CAPABILITY_MISSING",
    `the pod requests "${key}" from network ${network}, but no plugin of that network has "capabilities": {"${capability}": true}`,
  );
}
