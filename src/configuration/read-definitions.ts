// Reads the section `definitions`: which NetworkAttachmentDefinitions are trusted, and what all others may use.

import { describeJson } from "../json/document.ts";
import {
  type AllowedConfiguration,
  type AllowedValues,
  boundGrants,
  type DefinitionPolicy,
  type DefinitionRule,
  maxRules,
  trustEverybody,
} from "./definition-policy.ts";
import { namePattern, namespacesPattern } from "./grant-patterns.ts";
import type { ObjectReader } from "./object-reader.ts";
import { readStepRules } from "./read-step-rules.ts";
import { readGrants } from "./read-wasm.ts";
import { defaultGrants } from "./wasm-configuration.ts";

/** The settings that decide the default of `trusted`. */
export interface DefinitionDefaults {
  readonly profile: string | undefined;
  readonly multusNamespace: string;
}

/**
 * Reads the section; undefined: the configuration has none. If it has a mistake and the call continues nevertheless (DEL), no
 * definition is trusted and nothing is granted: the administrator's intention is unknown.
 */
export function readDefinitions(
  reader: ObjectReader | undefined,
  present: boolean,
  { profile, multusNamespace }: DefinitionDefaults,
): DefinitionPolicy {
  const trusted = profile === "multus" ? trustEverybody.trusted : [multusNamespace];
  if (reader === undefined) return present ? nothing : { trusted, rules: [], otherGrants: defaultGrants };
  const before = reader.problems.length;
  const policy: DefinitionPolicy = {
    trusted: reader.allMatching("trusted", namespacesPattern.pattern, namespacesPattern.wanted) ?? trusted,
    rules: reader.value("rules") === undefined ? [] : (reader.objects("rules", maxRules) ?? []).map(readRule),
    otherGrants: defaultGrants,
  };
  reader.end();
  return reader.problems.length === before ? policy : nothing;
}

const nothing: DefinitionPolicy = { trusted: [], rules: [], otherGrants: {} };

function readRule(reader: ObjectReader): DefinitionRule {
  const namesOf = (key: string): readonly string[] => reader.allMatching(key, namePattern.pattern, namePattern.wanted) ?? [];
  reader.require("namespaces");
  const grants = Object.entries(readGrants(reader.object("grants"))).map(([type, each]) => [type, boundGrants(each)] as const);
  const rule: DefinitionRule = {
    namespaces: reader.allMatching("namespaces", namespacesPattern.pattern, namespacesPattern.wanted) ?? [],
    native: readTypes(reader.object("native")),
    ipam: readTypes(reader.object("ipam")),
    grants: Object.fromEntries(grants),
    files: namesOf("files"),
    pools: namesOf("pools"),
    steps: readStepRules(reader.object("steps")),
  };
  reader.end();
  return rule;
}

/** The allowed configuration of each plugin type. */
function readTypes(reader: ObjectReader | undefined): Readonly<Record<string, AllowedConfiguration>> {
  const types: [string, AllowedConfiguration][] = [];
  for (const type of reader?.keys() ?? []) {
    if (reader?.value(type) === "*") types.push([type, "*"]);
    else if (reader !== undefined) types.push([type, readKeys(reader.object(type))]);
  }
  return Object.fromEntries(types);
}

function readKeys(reader: ObjectReader | undefined): AllowedConfiguration {
  const keys: [string, AllowedValues][] = [];
  for (const key of reader?.keys() ?? []) {
    const value = reader?.value(key);
    if (value === "*") keys.push([key, "*"]);
    else if (Array.isArray(value) && value.every(isScalar)) keys.push([key, value]);
    else reader?.refuse(key, `must be "*" or a list of texts, numbers and booleans, but is ${describeJson(value)}`);
  }
  return Object.fromEntries(keys);
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
