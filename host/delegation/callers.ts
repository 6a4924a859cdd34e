// Which plugins called one another up to here: a delegate may call another plugin, which may call one in turn, but not without end.

import type { EnvironmentPair } from "../../src/cni/environment.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { quote } from "../../src/json/quote.ts";

/** How many calls may lie within one another below a step of a chain. */
export const deepest = 4;

/** Tells the calls that a native plugin makes in turn, which come back through the hands. A type has no "/". */
const variable = "PLEXUS_CALLERS";
const separator = "/";

/** Why a plugin of this type may not be called by the last of `callers`; undefined where it may. Fault: DELEGATION_ENDLESS (7). */
export function endless(callers: readonly string[], type: string): Fault | undefined {
  const way = [...callers, type].map((each) => quote(each, 64)).join(" > ");
  if (callers.includes(type)) return fault("DELEGATION_ENDLESS", `plugin ${quote(type, 64)} would call itself: ${way}`);
  if (callers.length > deepest) return fault("DELEGATION_ENDLESS", `plugins call one another more than ${deepest} deep: ${way}`);
  return undefined;
}

/** The callers of a nested call, as its environment tells them. */
export function callersIn(env: readonly EnvironmentPair[]): readonly string[] {
  const text = env.find(([name]) => name === variable)?.[1] ?? "";
  return text === "" ? [] : text.split(separator);
}

/** The environment of a native plugin that a delegate calls. */
export function toldCallers(env: readonly EnvironmentPair[], callers: readonly string[]): readonly EnvironmentPair[] {
  return [...env.filter(([name]) => name !== variable), [variable, callers.join(separator)]];
}
