// The administrator's policy for NetworkAttachmentDefinitions. A definition of a trusted namespace counts as the administrator's
// own. Every other definition is bound: its namespace's rules say what it may use. No network may name Plexus as its plugin (MO-24).

import { matchesPattern } from "./grant-patterns.ts";
import type { DefinitionPolicy, DefinitionRule } from "./keys/definition-keys.ts";
import type { DelegateGrants } from "./keys/grant-keys.ts";
import type { StepRules } from "./step-rules.ts";
import type { WasmConfiguration } from "./wasm-configuration.ts";

/** The name of a NetworkAttachmentDefinition. */
export interface DefinitionName {
  readonly namespace: string;
  readonly name: string;
}

/** Whether definitions of the namespace count as the administrator's own. */
export function isTrustedNamespace({ trusted }: DefinitionPolicy, namespace: string): boolean {
  return anyMatches(trusted, namespace);
}

/** Whether every definition of the cluster counts as the administrator's own. */
export function trustsEverybody({ trusted }: Pick<DefinitionPolicy, "trusted">): boolean {
  return trusted.includes("*");
}

/** The rules for a namespace, in the configuration's order. Together they allow what each of them allows. */
export function rulesFor({ rules }: Pick<DefinitionPolicy, "rules">, namespace: string): readonly DefinitionRule[] {
  return rules.filter(({ namespaces }) => anyMatches(namespaces, namespace));
}

/** Whether a definition of the namespace may name the network of a file in confDir. */
export function mayUseFile(policy: DefinitionPolicy, namespace: string, network: string): boolean {
  return rulesFor(policy, namespace).some(({ files }) => anyMatches(files, network));
}

/**
 * The name under which a bound definition's network is attached. The namespace leads the name, so that leases, cache and GC of two
 * sources never meet. A namespace has no dot, so the name is unambiguous. A name in `pools` stays as it is.
 */
export function boundNetworkName(policy: DefinitionPolicy, namespace: string, network: string): string {
  const shared = rulesFor(policy, namespace).some(({ pools }) => anyMatches(pools, network));
  return shared ? network : `${namespace}.${network}`;
}

/** The grants of a delegate's type in the administrator's networks. */
export function grantsOf({ grants, otherGrants }: WasmConfiguration, type: string): DelegateGrants {
  return (Object.hasOwn(grants, type) ? grants[type] : undefined) ?? otherGrants;
}

/**
 * The grants of a delegate's type within a network. `definition`: the definition that binds the network; undefined for the
 * administrator's networks. The first rule that has the type decides.
 */
export function grantsFor(
  { wasm, definitions }: { readonly wasm: WasmConfiguration; readonly definitions?: DefinitionPolicy | undefined },
  definition: DefinitionName | undefined,
  type: string,
): DelegateGrants {
  if (definition === undefined) return grantsOf(wasm, type);
  if (definitions === undefined) return {};
  for (const { grants } of rulesFor(definitions, definition.namespace)) {
    const granted = Object.hasOwn(grants, type) ? grants[type] : undefined;
    if (granted !== undefined) return granted;
  }
  return definitions.otherGrants;
}

function anyMatches(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, text));
}

/** The rules of a network; undefined if there are none. The first rule of a bound definition's namespace that has a type decides. */
export function stepRulesFor(
  { steps, definitions }: { readonly steps?: StepRules | undefined; readonly definitions?: DefinitionPolicy | undefined },
  definition: DefinitionName | undefined,
): StepRules | undefined {
  if (definition === undefined) return steps;
  // The first rule has to win, so its entries come last.
  const bound = definitions === undefined ? [] : rulesFor(definitions, definition.namespace);
  const entries = bound.toReversed().flatMap(({ steps: rules = {} }) => Object.entries(rules));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

// The author of a network that names Plexus would write a host configuration, and with it grant capabilities and name directories for writing. A chain that calls
// itself also never ends.

/** The types under which Plexus may be installed: its own name, and the names of Multus, which Plexus replaces. */
const plexusTypes: readonly string[] = ["plexus", "multus", "multus-shim"];

/** The type under which runtimes execute Plexus, from the configuration. */
interface OwnType {
  readonly type: string;
}

/** Whether a plugin of this type is Plexus itself. `configuration.type` is the type under which the runtime called Plexus. */
export function isPlexusName(type: string, configuration: OwnType): boolean {
  return plexusTypes.includes(type) || (type !== "" && type === configuration.type);
}

/**
 * The first `type` at any depth of a plugin's configuration that is Plexus itself; undefined for none. A native plugin passes its own
 * configuration on to the plugins that it calls (`ipam.type`, `delegate.type`), so the definition's author would configure Plexus.
 */
export function plexusTypeIn(value: unknown, configuration: OwnType): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    // Go's JSON reader ignores the case of keys.
    const isPlexus = key.toLowerCase() === "type" && typeof member === "string" && isPlexusName(member, configuration);
    const found = isPlexus ? member : plexusTypeIn(member, configuration);
    if (found !== undefined) return found;
  }
  return undefined;
}
