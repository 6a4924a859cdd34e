// Checks a definition's native plugins against the policy of its namespace: their types, and the keys and values of their
// configurations. A native plugin runs as root, so everything that no rule allows is refused.

import type { PluginConf } from "../cni/network-list.ts";
import type { AllowedConfiguration, AllowedValues, DefinitionPolicy } from "../configuration/keys/definition-keys.ts";
import { type DefinitionName, rulesFor } from "../configuration/definition-policy.ts";
import { matchesPattern } from "../configuration/grant-patterns.ts";
import { type Fault, fault } from "../fault/fault.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { foldedKey } from "../json/folded-key.ts";
import { quote } from "../json/quote.ts";

/** A native plugin that a definition would run. */
export interface NativePlugin {
  readonly type: string;
  /** The plugin's object in the definition. */
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Whether a type is a component. A component needs no rule: its grants bind it. */
  readonly isComponent: (type: string) => boolean;
}

type Policy = Pick<DefinitionPolicy, "rules">;
type Tables = readonly Readonly<Record<string, AllowedConfiguration>>[];

/** Keys that every plugin's object may have: Plexus sets or checks them. */
export const commonKeys: readonly string[] = ["cniVersion", "name", "type", "capabilities", "prevResult", "ipam"];
/** Keys that `ipam` may always have. */
export const commonIpamKeys: readonly string[] = ["type"];

/**
 * The fault of a plugin that brings a `prevResult`, native or not: DEFINITION_FORBIDDEN. Plexus sets the key only where there is a
 * previous result. Elsewhere the plugin would take the author's for it, and act on another pod's addresses and links.
 */
export function broughtResultRefusal(
  definition: DefinitionName,
  plugins: readonly Pick<PluginConf, "type" | "document">[],
): Fault | undefined {
  for (const { type, document } of plugins) {
    const key = [...document.members.keys()].find((each) => foldedKey(each) === "prevresult");
    if (key === undefined) continue;
    const what = `plugin ${quote(type, 64)}: key ${quote(key, 64)} is not allowed: only Plexus sets it, so remove it`;
    return fault("DEFINITION_FORBIDDEN", `NetworkAttachmentDefinition ${definition.namespace}/${definition.name}: ${what}`);
  }
  return undefined;
}

/** The fault of a native plugin that no rule of the definition's namespace allows: DEFINITION_FORBIDDEN. */
export function nativePluginRefusal(policy: Policy, definition: DefinitionName, plugin: NativePlugin): Fault | undefined {
  const { type, configuration, isComponent } = plugin;
  const rules = rulesFor(policy, definition.namespace);
  const refused = refusal(
    tablesOf(
      rules.map(({ native }) => native),
      type,
    ),
    configuration,
    commonKeys,
  );
  if (refused !== undefined) return forbidden(definition, `native plugin ${quote(type, 64)}${refused}`, `native.${type}`);
  const { ipam } = configuration;
  if (ipam === undefined || ipam === null) return undefined;
  if (!isJsonObject(ipam)) return forbidden(definition, `ipam of plugin ${quote(type, 64)}: it is ${describeJson(ipam)}`, "ipam");
  if (Object.keys(ipam).length === 0) return undefined;
  return ipamRefusal(policy, definition, ipam, isComponent);
}

/**
 * The fault of a native plugin that a delegate would call (`delegation`): DEFINITION_FORBIDDEN. Its type may stand in `native` or in
 * `ipam`; an IPAM plugin's keys are those of `ipam`.
 */
export function delegatedPluginRefusal(policy: Policy, definition: DefinitionName, plugin: NativePlugin): Fault | undefined {
  const { type, configuration, isComponent } = plugin;
  const { ipam } = configuration;
  const isIpam = isJsonObject(ipam) && ipam["type"] === type;
  if (!isIpam) return nativePluginRefusal(policy, definition, plugin);
  const misspelled = Object.keys(configuration).find((key) => isMisspelled(key, commonKeys));
  if (misspelled !== undefined)
    return forbidden(definition, `plugin ${quote(type, 64)}: key ${quote(misspelled, 64)}`, `ipam.${type}`);
  return ipamRefusal(policy, definition, ipam, isComponent);
}

function ipamRefusal(
  policy: Policy,
  definition: DefinitionName,
  ipam: Readonly<Record<string, unknown>>,
  isComponent: NativePlugin["isComponent"],
): Fault | undefined {
  const { type } = ipam;
  if (typeof type !== "string") {
    return forbidden(definition, `ipam without a type: ${describeJson(type)} where a text is expected`, "ipam");
  }
  const rules = rulesFor(policy, definition.namespace);
  // A component's configuration is checked by its capabilities. Only misspelled keys could deceive the native plugin that calls it.
  const tables = isComponent(type)
    ? (["*"] as const)
    : tablesOf(
        rules.map((rule) => rule.ipam),
        type,
      );
  const refused = refusal(tables, ipam, commonIpamKeys);
  return refused === undefined
    ? undefined
    : forbidden(definition, `native IPAM plugin ${quote(type, 64)}${refused}`, `ipam.${type}`);
}

/** The configurations that the tables allow for the type; empty: no table has the type. */
function tablesOf(tables: Tables, type: string): readonly AllowedConfiguration[] {
  return tables.flatMap((table) => {
    const allowed = Object.hasOwn(table, type) ? table[type] : undefined;
    return allowed === undefined ? [] : [allowed];
  });
}

/** Why no alternative allows the configuration; undefined if one does. Continues a sentence that begins with the plugin. */
function refusal(
  alternatives: readonly AllowedConfiguration[],
  configuration: Readonly<Record<string, unknown>>,
  common: readonly string[],
): string | undefined {
  let reason: string | undefined;
  for (const allowed of alternatives) {
    const refused = Object.entries(configuration).flatMap(([key, value]) => keyRefusal(allowed, key, value, common) ?? [])[0];
    if (refused === undefined) return undefined;
    reason ??= refused;
  }
  return reason ?? "";
}

function keyRefusal(allowed: AllowedConfiguration, key: string, value: unknown, common: readonly string[]): string | undefined {
  if (common.includes(key)) return undefined;
  // Go's decoder reads `NAME` as `name`: the plugin would see another value than the one that was checked.
  if (isMisspelled(key, common))
    return `: key ${quote(key, 64)} is a spelling of ${foldedKey(key)}, which plugins written in Go read`;
  if (allowed === "*") return undefined;
  const values = Object.entries(allowed).find(([each]) => foldedKey(each) === foldedKey(key))?.[1];
  if (values === undefined) return `: key ${quote(key, 64)}`;
  return isAllowed(values, value) ? undefined : `: ${quote(key, 64)} with the value ${shown(value)}`;
}

function isMisspelled(key: string, common: readonly string[]): boolean {
  return !common.includes(key) && common.some((each) => foldedKey(each) === foldedKey(key));
}

function isAllowed(values: AllowedValues, value: unknown): boolean {
  if (values === "*") return true;
  if (Array.isArray(value)) return value.every((each) => isAllowed(values, each));
  if (typeof value === "string") return values.some((each) => typeof each === "string" && matchesPattern(each, value));
  return values.some((each) => each === value);
}

function shown(value: unknown): string {
  return typeof value === "object" ? describeJson(value) : quote(String(value), 64);
}

function forbidden({ namespace, name }: DefinitionName, what: string, key: string): Fault {
  const where = `no rule of definitions.rules allows it for namespace ${namespace} (key ${key})`;
  return fault("DEFINITION_FORBIDDEN", `NetworkAttachmentDefinition ${namespace}/${name}: ${what} is not allowed: ${where}`);
}
