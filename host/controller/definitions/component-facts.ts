// The components that nodes have, as far as the controller's image has them: their capabilities, compared with the grants.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DefinitionName, grantsFor } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { NodePlugins, PluginKind } from "../../../src/lint/definition-steps.ts";
import { Admission } from "../../sandbox/admission/admit.ts";
import { defaultLimits } from "../../sandbox/limits.ts";

/** Names of the plugins of the nodes. */
export interface PluginNames {
  /** Types of the native plugins, and of components that the image does not have; empty: not known. */
  readonly known: readonly string[];
  /** The directory of the image with the components that nodes have; undefined: none. */
  readonly components: string | undefined;
  /** The components of that directory, as nodes have them. */
  readonly shipped: "all" | readonly string[];
}

/** The capabilities that a component needs. */
type Needs = ReadonlyMap<string, readonly string[]>;

const suffix = ".wasm";

/** Reads what the components need. A component that the image's own limits refuse needs nothing: the node reports it. */
export function componentNeeds({ components, shipped }: PluginNames): Needs {
  const needs = new Map<string, readonly string[]>();
  if (components === undefined) return needs;
  const admission = new Admission();
  for (const file of readdirSync(components).filter((name) => name.endsWith(suffix))) {
    const type = file.slice(0, -suffix.length);
    if (shipped !== "all" && !shipped.includes(type)) continue;
    const examined = admission.examine(readFileSync(join(components, file)), defaultLimits, file);
    if (!examined.ok) continue;
    const { capabilities, declaration } = examined.value;
    needs.set(
      type,
      capabilities.filter((name) => declaration.optional?.includes(name) !== true),
    );
  }
  return needs;
}

/**
 * The plugins of the nodes under a configuration. A native plugin goes before the component of its type, unless `wasm.prefer` says otherwise:
 * without a list of the known plugins it depends on the node what a type is.
 */
export function nodePlugins({ known }: PluginNames, needs: Needs, { wasm, definitions }: HostConfiguration): NodePlugins {
  const isPreferred = (type: string): boolean => (typeof wasm.prefer === "boolean" ? wasm.prefer : wasm.prefer.includes(type));
  return {
    kindOf: (type): PluginKind => {
      const isKnown = known.includes(type);
      if (needs.has(type) && (isPreferred(type) || (known.length > 0 && !isKnown))) return "component";
      if (known.length === 0) return needs.has(type) ? "unknown" : "native";
      return isKnown ? "native" : "missing";
    },
    missingGrants: (type, definition: DefinitionName | undefined) => {
      const grants = grantsFor({ wasm, definitions }, definition, type);
      return (needs.get(type) ?? []).filter((name) => !Object.hasOwn(grants, name));
    },
  };
}
