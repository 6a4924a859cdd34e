// The configuration of a plugin that names a pool (`ipam.pool`). The host completes a configuration without ranges by those of the pool, in the form of
// host-local, so that any delegate with such a configuration gets addresses of the cluster.

import { foldedKey } from "../../../src/json/folded-key.ts";
import { editMembers, type JsonObjectDocument, memberText, parseDocument } from "../../../src/json/document.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { type Family, formatAddress, formatCidr } from "../../../src/net/ip.ts";
import type { AddressPool, PoolRange } from "./address-pool.ts";

/**
 * The configuration's text with the pool's ranges as `ipam.ranges`: one set for each family. A configuration that has ranges keeps them. Other bytes stay.
 */
export function withPoolRanges(document: JsonObjectDocument, pool: AddressPool): Result<string> {
  const key = [...document.members.keys()].find((each) => foldedKey(each) === "ipam");
  const text = key === undefined ? undefined : memberText(document, key);
  if (key === undefined || text === undefined) return ok(document.text);
  const ipam = parseDocument(text, { what: "ipam" });
  if (!ipam.ok) return ipam;
  const keys = [...ipam.value.members.keys()].map(foldedKey);
  if (keys.includes("ranges") || keys.includes("subnet")) return ok(document.text);
  const completed = editMembers(ipam.value, new Map([["ranges", JSON.stringify(rangeSets(pool))]]));
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
