// Explains a definition's policy: what its namespace may use, and the rule that a refused native plugin needs.

import { type DefinitionName, isTrustedNamespace, rulesFor } from "../../../src/configuration/definition-policy.ts";
import type { DefinitionPolicy } from "../../../src/configuration/keys/definition-keys.ts";
import { commonIpamKeys, commonKeys } from "../../../src/npwg/definition-plugins.ts";

/** The plugins, files and names that the definitions of a namespace may use. */
export interface ExplainedDefinition {
  readonly namespace: string;
  /** Whether the namespace's definitions count as the administrator's own. The lists are empty then. */
  readonly trusted: boolean;
  /** Types of native plugins. */
  readonly native: readonly string[];
  /** Types of native IPAM plugins. */
  readonly ipam: readonly string[];
  /** Types of components with grants of their own; all others have the default grants. */
  readonly components: readonly string[];
  /** Networks in confDir that a definition may name. */
  readonly files: readonly string[];
  /** Network names that are shared with others. */
  readonly pools: readonly string[];
}

/** Explains the policy for a namespace. */
export function explainDefinition(policy: DefinitionPolicy, namespace: string): ExplainedDefinition {
  const trusted = isTrustedNamespace(policy, namespace);
  const rules = trusted ? [] : rulesFor(policy, namespace);
  return {
    namespace,
    trusted,
    native: union(rules.map(({ native }) => Object.keys(native))),
    ipam: union(rules.map(({ ipam }) => Object.keys(ipam))),
    components: union(rules.map(({ grants }) => Object.keys(grants))),
    files: union(rules.map(({ files }) => files)),
    pools: union(rules.map(({ pools }) => pools)),
  };
}

function union(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

/** An addition to the host configuration that allows a definition's native plugin with its present keys and values. */
export function ruleForNative(
  { namespace }: DefinitionName,
  type: string,
  configuration: Readonly<Record<string, unknown>>,
  ipam: Readonly<Record<string, unknown>> | undefined,
): object {
  const ipamType = ipam?.["type"];
  const rule = {
    namespaces: [namespace],
    native: { [type]: allowedKeys(configuration, commonKeys) },
    ...(ipam === undefined || typeof ipamType !== "string" ? {} : { ipam: { [ipamType]: allowedKeys(ipam, commonIpamKeys) } }),
  };
  return { definitions: { rules: [rule] } };
}

/** The configuration's keys, each with its value if that is a text, a number or a boolean. */
function allowedKeys(
  configuration: Readonly<Record<string, unknown>>,
  common: readonly string[],
): Readonly<Record<string, unknown>> {
  const keys = Object.entries(configuration).filter(([key]) => !common.includes(key));
  return Object.fromEntries(keys.map(([key, value]) => [key, typeof value === "object" ? "*" : [value]]));
}
