// The pool that a plugin's configuration names: `ipam.pool`. The host completes a configuration without ranges by those of the pool, in the form of
// host-local, so that any delegate with such a configuration gets addresses of the cluster.

import { foldedKey } from "../json/folded-key.ts";
import { describeJson, editMembers, isJsonObject, type JsonObjectDocument, memberText, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { type Family, formatAddress, formatCidr } from "../net/ip.ts";
import { type AddressPool, isPoolName, type PoolRange } from "./address-pool.ts";

/** The name of the pool in a configuration; undefined if the configuration names none. Fault CONFIG_INVALID. */
export function poolNameIn(configuration: Readonly<Record<string, unknown>>): Result<string | undefined> {
  for (const [key, ipam] of Object.entries(configuration)) {
    // Delegates read keys in any case, as Go does. A key that only the delegate understands would leave the pool out.
    if (foldedKey(key) !== "ipam" || !isJsonObject(ipam)) continue;
    for (const [inner, value] of Object.entries(ipam)) {
      if (foldedKey(inner) !== "pool") continue;
      if (typeof value === "string" && isPoolName(value)) return ok(value);
      const what = typeof value === "string" ? quote(value, 60) : describeJson(value);
      return failed(fault("CONFIG_INVALID", `ipam.pool must be the name of an AddressPool, but is ${what}`));
    }
  }
  return ok(undefined);
}

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
function rangeSets({ ranges }: Pick<AddressPool, "ranges">): readonly (readonly object[])[] {
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
