// The callers of a delegated plugin. A delegate may call a plugin, which may call another one; the depth of such calls is bounded.

import type { EnvironmentPair } from "../../../src/cni/environment.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { quote } from "../../../src/json/quote.ts";
import { callersVariable } from "../../protocol/engine-variables.ts";

/** Maximum depth of delegated calls below a step of a chain. */
const maxDepth = 4;

/** A type has no "/". */
const separator = "/";

/**
 * Checks the depth of a call. `callers`: the types that called one another, the outermost first. Fault: DELEGATION_ENDLESS (7) if
 * `type` is among the callers, or the maximum depth is exceeded.
 */
export function callDepthFault(callers: readonly string[], type: string): Fault | undefined {
  const path = [...callers, type].map((each) => quote(each, 64)).join(" > ");
  if (callers.includes(type)) return fault("DELEGATION_ENDLESS", `plugin ${quote(type, 64)} would call itself: ${path}`);
  if (callers.length > maxDepth)
    return fault("DELEGATION_ENDLESS", `plugins call one another more than ${maxDepth} deep: ${path}`);
  return undefined;
}

/** The callers of a nested call, read from its environment. */
export function callersIn(env: readonly EnvironmentPair[]): readonly string[] {
  const text = env.find(([name]) => name === callersVariable)?.[1] ?? "";
  return text === "" ? [] : text.split(separator);
}

/** The environment of a native plugin that a delegate calls, with the callers in it. */
export function withCallersIn(env: readonly EnvironmentPair[], callers: readonly string[]): readonly EnvironmentPair[] {
  return [...env.filter(([name]) => name !== callersVariable), [callersVariable, callers.join(separator)]];
}
