// The administrator's policy for NetworkAttachmentDefinitions. A definition of a trusted namespace counts as the administrator's
// own. Every other definition is bound: its namespace's rules say what it may use.

import { matchesPattern } from "./grant-patterns.ts";
import type { StepRules } from "./step-rules.ts";
import { type DelegateGrants, defaultGrants, grantsOf, type WasmConfiguration } from "./wasm-configuration.ts";

/** The name of a NetworkAttachmentDefinition. */
export interface DefinitionName {
  readonly namespace: string;
  readonly name: string;
}

/** The values that one key of a plugin's configuration may have: `"*"` for any, or a list. Texts are patterns with the wildcard `*`. */
export type AllowedValues = "*" | readonly (string | number | boolean)[];

/** The keys that a plugin's configuration may have besides the specification's own; `"*"` allows every configuration. */
export type AllowedConfiguration = "*" | Readonly<Record<string, AllowedValues>>;

/** The rule for the definitions of some namespaces. */
export interface DefinitionRule {
  /** Patterns of the namespaces of definitions; `*` is a wildcard. */
  readonly namespaces: readonly string[];
  /** Native plugins by type, with the configuration that each may get. */
  readonly native: Readonly<Record<string, AllowedConfiguration>>;
  /** Native IPAM plugins by type, with the keys that `ipam` may have. */
  readonly ipam: Readonly<Record<string, AllowedConfiguration>>;
  /** Grants of components by type, as in `wasm.grants`. */
  readonly grants: Readonly<Record<string, DelegateGrants>>;
  /** Patterns of the networks in confDir that a definition without a configuration may name. */
  readonly files: readonly string[];
  /** Patterns of network names that these definitions share with all others: they keep the name, and with it the leases. */
  readonly pools: readonly string[];
  /** Rules for these definitions' steps, by plugin type. */
  readonly steps?: StepRules | undefined;
}

/** The section `definitions` with every default filled in. */
export interface DefinitionPolicy {
  /** Patterns of the namespaces whose definitions count as the administrator's own. */
  readonly trusted: readonly string[];
  readonly rules: readonly DefinitionRule[];
  /** Grants of a component that no rule mentions. */
  readonly otherGrants: DelegateGrants;
}

/** The policy of Multus: every definition may do everything. */
export const trustEverybody: DefinitionPolicy = { trusted: ["*"], rules: [], otherGrants: defaultGrants };

/** The policy of a configuration without `definitions`: Multus' namespace is trusted. */
export const defaultDefinitionPolicy: DefinitionPolicy = { trusted: ["kube-system"], rules: [], otherGrants: defaultGrants };

/** Whether definitions of the namespace count as the administrator's own. */
export function isTrustedNamespace({ trusted }: Pick<DefinitionPolicy, "trusted">, namespace: string): boolean {
  return anyMatches(trusted, namespace);
}

/** Whether every definition of the cluster counts as the administrator's own. */
export function trustsEverybody({ trusted }: Pick<DefinitionPolicy, "trusted">): boolean {
  return trusted.includes("*");
}

/** Maximum rules of a configuration: each call reads all of them. */
export const maxRules = 1024;

/** The rules for a namespace, in the configuration's order. Together they allow what each of them allows. */
export function rulesFor({ rules }: Pick<DefinitionPolicy, "rules">, namespace: string): readonly DefinitionRule[] {
  return rules.filter(({ namespaces }) => anyMatches(namespaces, namespace));
}

/** Whether a definition of the namespace may name the network of a file in confDir. */
export function mayUseFile(policy: Pick<DefinitionPolicy, "rules">, namespace: string, network: string): boolean {
  return rulesFor(policy, namespace).some(({ files }) => anyMatches(files, network));
}

/**
 * The name under which a bound definition's network is attached. The namespace leads the name, so that leases, cache and GC of two
 * sources never meet. A namespace has no dot, so the name is unambiguous. A name in `pools` stays as it is.
 */
export function boundNetworkName(policy: Pick<DefinitionPolicy, "rules">, namespace: string, network: string): string {
  const shared = rulesFor(policy, namespace).some(({ pools }) => anyMatches(pools, network));
  return shared ? network : `${namespace}.${network}`;
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

/**
 * A rule's grants with the bounds that a definition always has: `links` may touch no address, neighbour or route of the node that
 * the rule does not list, and replaces no address unless the rule says so.
 */
export function boundGrants(grants: DelegateGrants): DelegateGrants {
  const { links } = grants;
  if (links === undefined) return grants;
  return {
    ...grants,
    links: {
      ...links,
      networks: links.networks ?? [],
      nodeAddresses: links.nodeAddresses ?? [],
      replaceAddresses: links.replaceAddresses ?? false,
    },
  };
}

function anyMatches(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, text));
}
