// Compares a network's result with the pod's requests (NPWG 1.0 4.1.2.1.3.2 and 4.1.2.1.4.2; 4.1.2.1.5; decision D-02).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { readAddress, readCidr } from "../net/ip.ts";
import type { CniResult } from "../cni/result.ts";
import { versionGroup } from "../cni/versions.ts";
import { verifyAnnotation } from "./extension-keys.ts";
import { sameHardwareAddress } from "./hardware-address.ts";
import type { NetworkSelection } from "./network-selection.ts";
import { sandboxInterfaces } from "./sandbox-interface.ts";

/** The kinds of requests to compare. */
export type Verification = ReadonlySet<Verified>;
type Verified = "ips" | "mac" | "interface";
const all: readonly Verified[] = ["ips", "mac", "interface"];

/** The comparisons that a definition's annotation `plexus.dev/verify` selects; without the annotation, all. */
export function verificationOf(annotations: ReadonlyMap<string, string>): Result<Verification> {
  const text = annotations.get(verifyAnnotation)?.trim();
  if (text === undefined) return ok(new Set(all));
  if (text === "none") return ok(new Set<Verified>());
  const names = text.split(",").map((each) => each.trim());
  const wrong = names.find((name) => !all.some((each) => each === name));
  if (wrong === undefined) return ok(new Set(all.filter((each) => names.includes(each))));
  return failed(
    fault("NETWORK_INVALID", `annotation ${verifyAnnotation}: ${quote(wrong, 40)} is not one of ${all.join(", ")}, none`),
  );
}

/**
 * Compares the requested ips, mac and interface name with the result; `ifname` is the attachment's CNI_IFNAME. An address counts
 * if it belongs to a sandbox interface or to none; its prefix length counts if the pod requested one. Results of 0.1.0 and 0.2.0
 * have no interfaces, so mac and name cannot be compared and pass. Fault REQUEST_UNMET names the network and its actual result.
 */
export function verifyResult(
  selection: NetworkSelection,
  ifname: string,
  result: CniResult,
  verification: Verification = new Set(all),
): Result<void> {
  const wrong = [
    verification.has("ips") ? ipsProblem(selection.ips ?? [], result) : undefined,
    verification.has("mac") ? macProblem(selection.mac, ifname, result) : undefined,
    verification.has("interface") ? nameProblem(selection.interface, result) : undefined,
  ].find((each) => each !== undefined);
  if (wrong === undefined) return ok(undefined);
  return failed(fault("REQUEST_UNMET", `network ${selection.namespace}/${selection.name} ${wrong}`));
}

/**
 * Whether the result has an address that a component leased from the AddressPool for the attachment. A plugin that knows no pools ignores `ipam.pool` and
 * answers with an address of another place. Fault REQUEST_UNMET.
 */
export function verifyPool(network: string, pool: string, leased: readonly string[], result: CniResult): Result<void> {
  const has = podAddresses(result);
  if (leased.some((each) => has.some((address) => matches(each, address)))) return ok(undefined);
  const why = `the network's IPAM plugin takes none from pools; use a component that does, such as ipam-host-local`;
  return failed(
    fault("REQUEST_UNMET", `network ${network} should have an address of AddressPool ${pool}, but has ${shown(has)}: ${why}`),
  );
}

function ipsProblem(requested: readonly string[], result: CniResult): string | undefined {
  const assigned = podAddresses(result);
  const lacking = requested.find((each) => !assigned.some((address) => matches(each, address)));
  if (lacking === undefined) return undefined;
  return `should have the address ${lacking}, but has ${shown(assigned)}`;
}

/** The addresses of sandbox interfaces, and those without an interface. */
function podAddresses(result: CniResult): readonly string[] {
  const inSandbox = new Set(sandboxInterfaces(result).map((each) => each.index));
  return result.ips
    .filter(({ interface: index }) => index === undefined || index < 0 || inSandbox.has(index))
    .map((ip) => ip.address);
}

function shown(addresses: readonly string[]): string {
  return addresses.length === 0 ? "none" : addresses.slice(0, 8).join(", ");
}

function matches(requested: string, assigned: string): boolean {
  const has = readCidr(assigned);
  const cidr = readCidr(requested);
  const address = cidr?.address ?? readAddress(requested);
  if (has === undefined || address === undefined) return false;
  if (has.address.family !== address.family || has.address.value !== address.value) return false;
  return cidr === undefined || cidr.prefix === has.prefix;
}

function macProblem(requested: string | undefined, ifname: string, result: CniResult): string | undefined {
  if (requested === undefined || versionGroup(result.cniVersion) === "020") return undefined;
  const links = sandboxInterfaces(result).map((each) => each.interface);
  const link = links.find((each) => each.name === ifname) ?? links[0];
  if (link === undefined) return `should have the mac ${requested}, but its result has no interface in the pod`;
  if (link.mac !== undefined && sameHardwareAddress(requested, link.mac)) return undefined;
  return `should have the mac ${requested}, but ${quote(link.name, 20)} has ${link.mac === undefined ? "none" : quote(link.mac, 60)}`;
}

function nameProblem(requested: string | undefined, result: CniResult): string | undefined {
  const names = sandboxInterfaces(result).map((each) => each.interface.name);
  if (requested === undefined || names.length === 0 || names.includes(requested)) return undefined;
  return `should have the interface ${requested}, but has ${names
    .slice(0, 8)
    .map((name) => quote(name, 20))
    .join(", ")}`;
}
