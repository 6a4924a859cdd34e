// The configuration of a plugin that names a pool (`ipam.pool`). The host completes the IPAM plugin's by the pool's ranges, in the form of host-local, so that any
// delegate with such a configuration gets addresses of the cluster; and the main plugin's by the pool's conflictDetection.

import { foldedKey } from "../../../src/json/folded-key.ts";
import {
  editMembers,
  type JsonObjectDocument,
  memberText,
  parseConfiguration,
  parseDocument,
} from "../../../src/json/document.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { type Family, formatAddress, formatCidr } from "../../../src/net/ip.ts";
import type { AddressPool, PoolRange } from "./address-pool.ts";

/** The plugin whose configuration is completed: the one that takes the addresses, or the one that makes the interface. */
export type PoolUser = "ipam" | "main";

/** The text of a configuration, completed for this plugin. Fault CONFIG_INVALID. */
export function completedBy(pool: AddressPool, configuration: string, user: PoolUser): Result<string> {
  const document = parseConfiguration(configuration, { what: "configuration" });
  if (!document.ok) return document;
  return user === "ipam" ? withPoolRanges(document.value, pool) : withPoolDetection(document.value, pool);
}

/**
 * The configuration's text with the pool's ranges as `ipam.ranges`: one set for each family. A configuration that has ranges keeps them. Other bytes stay.
 */
export function withPoolRanges(document: JsonObjectDocument, pool: AddressPool): Result<string> {
  return withMember(document, "ranges", ["ranges", "subnet"], () => rangeSets(pool));
}

/** The configuration's text with the pool's `ipam.conflictDetection`. A configuration that has its own keeps it. Other bytes stay. */
export function withPoolDetection(document: JsonObjectDocument, { conflictDetection }: AddressPool): Result<string> {
  if (conflictDetection === undefined) return ok(document.text);
  return withMember(document, "conflictDetection", ["conflictDetection"], () => conflictDetection);
}

/** The text with a member of `ipam`, unless `ipam` has one of these keys. */
function withMember(
  document: JsonObjectDocument,
  name: string,
  unless: readonly string[],
  valueOf: () => unknown,
): Result<string> {
  const key = [...document.members.keys()].find((each) => foldedKey(each) === "ipam");
  const text = key === undefined ? undefined : memberText(document, key);
  if (key === undefined || text === undefined) return ok(document.text);
  const ipam = parseDocument(text, { what: "ipam" });
  if (!ipam.ok) return ipam;
  const keys = [...ipam.value.members.keys()].map(foldedKey);
  if (unless.some((each) => keys.includes(foldedKey(each)))) return ok(document.text);
  const completed = editMembers(ipam.value, new Map([[name, JSON.stringify(valueOf())]]));
  return ok(editMembers(document, new Map([[key, completed]])));
}

/** The pool's ranges as host-local's range sets. An attachment gets an address of each set. */
function rangeSets({ ranges }: AddressPool): readonly (readonly object[])[] {
  const ofFamily = (family: Family): readonly object[] => ranges.filter(({ span }) => span.family === family).map(hostLocalRange);
  return [ofFamily(4), ofFamily(6)].filter((set) => set.length > 0);
}

function hostLocalRange({ subnet, span, gateway }: PoolRange): object {
  const text = (value: bigint): string => formatAddress({ family: span.family, value });
  return {
    subnet: formatCidr(subnet),
    rangeStart: text(span.first),
    rangeEnd: text(span.last),
    gateway: formatAddress(gateway),
  };
}
