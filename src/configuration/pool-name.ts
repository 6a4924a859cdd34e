// The pool of the cluster that a plugin's configuration names: `ipam.pool`.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { foldedKey } from "../json/folded-key.ts";
import { quote } from "../json/quote.ts";

/** Maximum length of a pool's name. */
export const poolNameLength = 40;

const poolName = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/** Whether a pool can have this name: a DNS label of at most 40 characters that begins with a letter. */
export function isPoolName(name: string): boolean {
  return name.length <= poolNameLength && poolName.test(name);
}

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
