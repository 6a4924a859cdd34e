// What a pod asks of a network, as capability arguments (NPWG 4.1.2.1.3 to 4.1.2.1.11; CONVENTIONS.md "Well-known Capabilities").

import { fault, type Fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject, type JsonObjectDocument, memberText, memberTexts, memberValue } from "../json/document.ts";
import type { NetworkList } from "../cni/network-list.ts";
import type { Bandwidth, JsonMembers, NetworkSelection } from "./network-selection.ts";
import type { NpwgProfile } from "./profile.ts";

/** One request: the selection's key, the capability that honours it, and the JSON text of its value. */
interface CapabilityRequest {
  readonly key: string;
  readonly capability: string;
  readonly value: string;
}

/** What goes by capability and what goes by `args.cni` because no plugin declares the capability. */
export interface SplitRequests {
  readonly capabilityArgs: JsonMembers;
  readonly cniArgs: JsonMembers;
}

/** Version 1.0 has these two in `args.cni` (N1-24, N1-27). */
const alsoArgs = new Set(["ips", "mac"]);

/**
 * Matches the requests of `selection` with the capabilities of the plugins of `list`. A request for which no plugin
 * declares the capability fails the attachment (4.1.2.1.3.2 ff.); `ips` and `mac` may go by `args.cni` instead, if the
 * profile says so (D-2). Fault CAPABILITY_MISSING names key, capability and network.
 *
 * Nothing of the runtime's own `runtimeConfig` gets here: it is the default network's alone (7.5).
 */
export function splitRequests(selection: NetworkSelection, list: NetworkList, profile: NpwgProfile): Result<SplitRequests> {
  const declared = new Set(list.plugins.flatMap((plugin) => plugin.capabilities));
  const capabilityArgs = new Map<string, string>();
  const cniArgs = new Map<string, string>();
  for (const { key, capability, value } of requestsOf(selection)) {
    if (declared.has(capability)) capabilityArgs.set(capability, value);
    else if (profile.missingCapability === "args" && alsoArgs.has(key)) cniArgs.set(key, value);
    else return failed(missing(key, capability, selection));
  }
  // A delegate may ignore these two, so neither is worth a refusal (4.1.2.1.11; D-9).
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
 * The capability arguments that the runtime gave Plexus in its own configuration, with the exact text of each: all of them
 * are the default network's, and no other network's (7.5). Fault CONFIG_INVALID where `runtimeConfig` is no object.
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

/** Bits: what one segmentation-offloaded packet can have. */
const smallestBurst = 8 * 65_536;
/** Bits: what the reference bandwidth plugin can express. */
const largestBurst = 4_294_967_295;

/**
 * A rate without a burst gets one, because the reference bandwidth plugin refuses a rate alone (4.1.2.1.8.2 leaves the
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
  return rate === undefined ? undefined : Math.min(Math.max(Math.ceil(rate / 10), smallestBurst), largestBurst);
}

function missing(key: string, capability: string, selection: NetworkSelection): Fault {
  const network = `${selection.namespace}/${selection.name}`;
  return fault(
    "CAPABILITY_MISSING",
    `the pod asks network ${network} for "${key}", but none of its plugins has "capabilities": {"${capability}": true}`,
  );
}
