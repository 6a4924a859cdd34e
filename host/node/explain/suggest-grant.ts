// Derives from a step's configuration which scopes its grants need, by the keys of the reference plugins. The result is a first grant, or
// a warning about a missing scope. Both are hints: only a call shows what a delegate really asks for.

import { matchesPattern, vlanRange } from "../../../src/configuration/grant-patterns.ts";
import type { DelegateGrants } from "../../../src/configuration/keys/grant-keys.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { cidrContains, formatCidr, networkOf, readCidr } from "../../../src/net/ip.ts";

type Configuration = Readonly<Record<string, unknown>>;

/** A value in the configuration that the grant must cover. */
interface NeededScope {
  readonly capability: keyof DelegateGrants;
  /** Key within the capability's grant. */
  readonly key: string;
  /** Key in the step's configuration. */
  readonly what: string;
  readonly value: string | true;
}

function neededScopes(config: Configuration, ifname: string, imported: readonly string[]): readonly NeededScope[] {
  const needed: NeededScope[] = [];
  const text = (key: string): string | undefined => {
    const value = config[key];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const add = (capability: NeededScope["capability"], key: string, what: string, value: string | true | undefined): void => {
    if (value !== undefined) needed.push({ capability, key, what, value });
  };
  // A component that plugs into Open vSwitch means a bridge of it.
  add(imported.includes("ovs") ? "ovs" : "links", "bridges", "bridge", text("bridge"));
  add("links", "parents", "master", text("master"));
  add("links", "uplinks", "uplinkInterface", text("uplinkInterface"));
  if (config["isGateway"] === true || config["isDefaultGateway"] === true) add("links", "forwarding", "isGateway", true);
  if (config["type"] === "ptp") {
    // The node's end of the veth gets the gateways, and the node a route to each address.
    add("links", "forwarding", "ptp", true);
    for (const network of networksOf(config["ipam"])) add("links", "networks", "ipam", network);
  }
  if (config["type"] === "ovs") for (const vlans of vlansOf(config)) add("ovs", "vlans", "vlan", vlans);
  if (config["type"] === "sriov") {
    const { vlan, trust, spoofchk } = config;
    if (typeof vlan === "number") add("links", "vfVlans", "vlan", String(vlan));
    if (trust === "on" || spoofchk === "off") add("links", "vfTrust", trust === "on" ? "trust" : "spoofchk", true);
  }
  if (config["type"] === "tap") add("links", "selinuxContexts", "selinuxContext", text("selinuxContext"));
  const { ipam, sysctl } = config;
  if (isJsonObject(ipam) && typeof ipam["type"] === "string") add("delegation", "plugins", "ipam.type", ipam["type"]);
  if (isJsonObject(ipam) && typeof ipam["pool"] === "string") add("leases", "pools", "ipam.pool", ipam["pool"]);
  if (config["ipMasq"] === true) add("firewall", "masquerade", "ipMasq", true);
  if (isJsonObject(sysctl)) for (const key of Object.keys(sysctl)) add("sysctl", "keys", "sysctl", sysctlPath(key, ifname));
  return needed;
}

const elements = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The networks of an `ipam` of host-local (`subnet`, `ranges`) or static (`addresses`), in CIDR notation. */
function networksOf(ipam: unknown): readonly string[] {
  if (!isJsonObject(ipam)) return [];
  const { subnet, ranges, addresses } = ipam;
  const subnets = elements(ranges).flatMap((set) =>
    elements(set).map((range) => (isJsonObject(range) ? range["subnet"] : undefined)),
  );
  const own = elements(addresses).map((each) => (isJsonObject(each) ? each["address"] : undefined));
  const networks = [subnet, ...subnets, ...own].flatMap((text) => {
    const cidr = typeof text === "string" ? readCidr(text) : undefined;
    return cidr === undefined ? [] : [formatCidr({ ...cidr, address: networkOf(cidr).first })];
  });
  return [...new Set(networks)];
}

/** The VLANs of a port that ovs-cni's keys request, each a number or a range. Without both keys the port carries all VLANs. */
function vlansOf({ vlan, trunk }: Configuration): readonly string[] {
  const trunks = elements(trunk).flatMap((each) => {
    if (!isJsonObject(each)) return [];
    const { id, minID, maxID } = each;
    const range = typeof minID === "number" && typeof maxID === "number" ? [`${minID}-${maxID}`] : [];
    return typeof id === "number" ? [String(id), ...range] : range;
  });
  if (trunks.length > 0) return trunks;
  return [typeof vlan === "number" ? String(vlan) : "0-4095"];
}

/**
 * The path of a sysctl key as grants write it. The first separator of the key decides, as for sysctl(8): after a dot, slashes stand for dots in
 * names. IFNAME stands for the interface.
 */
function sysctlPath(key: string, ifname: string): string {
  const [first] = /[./]/.exec(key) ?? [];
  const parts = first === "." ? key.split(".").map((part) => part.replaceAll("/", ".")) : key.split("/");
  return parts.map((part) => (part === ifname ? "IFNAME" : part)).join("/");
}

/** The scopes that a grant of this capability would need for this configuration. `imported`: the component's capabilities. */
export function suggestedGrant(capability: keyof DelegateGrants, config: Configuration, imported: readonly string[]): object {
  const grant: Record<string, string[] | true> = {};
  for (const { capability: of, key, value } of neededScopes(config, "eth0", imported)) {
    if (of !== capability) continue;
    if (value === true) grant[key] = true;
    else grant[key] = [...(Array.isArray(grant[key]) ? grant[key] : []), value];
  }
  return grant;
}

/** Whether this configuration uses the capability, so that it is granted although it is optional. */
export function isUsed(capability: keyof DelegateGrants, config: Configuration, imported: readonly string[]): boolean {
  // A check of MAC addresses needs the capability, and no scope of it.
  if (capability === "firewall" && config["macspoofchk"] === true) return true;
  return neededScopes(config, "eth0", imported).some((needed) => needed.capability === capability);
}

/**
 * One sentence for each value in the configuration that the grant does not cover. `where`: the configuration key of the grants. `imported`, `optional`:
 * the component's capabilities. A needed capability without any grant has its own fault, so only an optional one is named here.
 */
export function uncovered(
  where: string,
  type: string,
  config: Configuration,
  grants: DelegateGrants,
  { imported, optional }: { readonly imported: readonly string[]; readonly optional: readonly string[] },
): readonly string[] {
  return neededScopes(config, "eth0", imported).flatMap(({ capability, key, what, value }) => {
    const grant: unknown = grants[capability];
    if (!imported.includes(capability) || (!isJsonObject(grant) && !optional.includes(capability))) return [];
    const has = isJsonObject(grant) ? grant[key] : undefined;
    const covered = value === true ? has === true : Array.isArray(has) && has.some((each) => covers(key, each, value));
    if (covered) return [];
    const listed = Array.isArray(has) && has.length > 0 ? has.join(", ") : "nothing";
    const named = value === true ? what : `${what} ${value}`;
    return [`${named}: ${where}.${type}.${capability}.${key} has ${listed}`];
  });
}

function covers(key: string, pattern: unknown, value: string): boolean {
  if (key === "networks") return containsNetwork(pattern, value);
  if (key === "vlans" || key === "vfVlans") return containsVlans(pattern, value);
  return typeof pattern === "string" && matchesPattern(pattern, value);
}

function containsVlans(granted: unknown, vlans: string): boolean {
  const [outer, inner] = [typeof granted === "string" ? vlanRange(granted) : undefined, vlanRange(vlans)];
  return outer !== undefined && inner !== undefined && inner.first >= outer.first && inner.last <= outer.last;
}

function containsNetwork(granted: unknown, network: string): boolean {
  const [outer, inner] = [typeof granted === "string" ? readCidr(granted) : undefined, readCidr(network)];
  return outer !== undefined && inner !== undefined && inner.prefix >= outer.prefix && cidrContains(outer, inner.address);
}
