// `wasm.require` in words, for plexusctl.

import type { ComponentRequirement } from "./keys/component-keys.ts";
import type { WasmConfiguration } from "./wasm-configuration.ts";

/** A noun phrase for the properties of which a component must have one. */
export function requirementText({ anyOf: { signedBy, digests } }: ComponentRequirement): string {
  const [name = ""] = signedBy;
  const signature = signedBy.length === 1 ? `a signature by ${name}` : `a signature by one of ${signedBy.join(", ")}`;
  const digest = digests.length === 1 ? "the digest listed" : `one of ${digests.length} digests`;
  const alternatives = [...(signedBy.length === 0 ? [] : [signature]), ...(digests.length === 0 ? [] : [digest])];
  return alternatives.length === 0 ? "something that no component has" : alternatives.join(", or ");
}

/** A clause about all components of a node. */
export function nodeRequirementText({ enabled, require, demands, exempt }: WasmConfiguration): string {
  if (!enabled) return "no component may run (wasm.enabled is false)";
  const own = Object.keys(demands);
  const ownText = own.length === 0 ? "" : `their own demands: ${own.join(", ")}`;
  if (require === undefined)
    return ownText === "" ? "any component may run" : `any component may run, except types with ${ownText}`;
  const exceptions = [...(ownText === "" ? [] : [ownText]), ...(exempt.length === 0 ? [] : [`exempt: ${exempt.join(", ")}`])];
  return `every component must have ${requirementText(require)}${exceptions.length === 0 ? "" : ` (${exceptions.join("; ")})`}`;
}
