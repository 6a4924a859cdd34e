// The section `definitions`: which NetworkAttachmentDefinitions are trusted, and what all others may use.

import { describeJson } from "../../json/document.ts";
import { namePattern, namespacesPattern } from "../grant-patterns.ts";
import { stepRules } from "../step-rules.ts";
import { key, type ValuesOf } from "../table/key.ts";
import type { Kind } from "../table/kind.ts";
import { listOf } from "../table/lists.ts";
import { listOfSections, named, section } from "../table/section.ts";
import { boundGrants, defaultGrants, type DelegateGrants, grantKeys } from "./grant-keys.ts";

/** Maximum rules of a configuration: each call reads all of them. */
const maxRules = 1024;

/** The values that one key of a plugin's configuration may have: `"*"` for any, or a list. Texts are patterns with the wildcard `*`. */
export type AllowedValues = "*" | readonly (string | number | boolean)[];

/** The keys that a plugin's configuration may have besides the specification's own; `"*"` allows every configuration. */
export type AllowedConfiguration = "*" | Readonly<Record<string, AllowedValues>>;

const allowedValues: Kind<AllowedValues> = {
  read: (reader, at) => {
    const value = reader.value(at);
    if (value === "*" || (Array.isArray(value) && value.every(isScalar))) return value;
    reader.refuse(at, `must be "*" or a list of texts, numbers and booleans, but is ${describeJson(value)}`);
    return undefined;
  },
  schema: () => anyOr({ type: "array", items: { type: ["string", "number", "boolean"] } }),
};

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

const allowedKeys = named(allowedValues);

/** The allowed configuration of each plugin type. */
const allowedTypes = named<AllowedConfiguration>({
  read: (reader, type) => (reader.value(type) === "*" ? "*" : allowedKeys.read(reader, type)),
  schema: () => anyOr(allowedKeys.schema()),
});

function anyOr(schema: object): { readonly anyOf: readonly object[] } {
  return { anyOf: [{ type: "string", const: "*" }, schema] };
}

const ruleKeys = {
  namespaces: key({
    kind: listOf(namespacesPattern),
    about: "Namespaces of definitions; * is a wildcard.",
    required: true,
    mistaken: [],
  }),
  native: key({
    kind: allowedTypes,
    about:
      'Native plugins by type. The value is "*" for any configuration, or an object of the keys that the configuration may have, each with "*" or a list of values.',
    usual: {},
  }),
  ipam: key({
    kind: allowedTypes,
    about: "Native IPAM plugins by type, and the keys that ipam may have, in the same form as native.",
    usual: {},
  }),
  grants: key({
    kind: named(section(grantKeys, { finish: boundGrants })),
    about:
      "Capabilities of each delegate, by type, as in wasm.grants. links needs networks and nodeAddresses for anything that it gives to the node, and replaceAddresses to replace an address.",
    usual: {},
  }),
  files: key({
    kind: listOf(namePattern),
    about: "Networks in confDir that a definition without a configuration may name; * is a wildcard.",
    usual: [],
  }),
  pools: key({
    kind: listOf(namePattern),
    about: "Network names that definitions share with others of this name: they use the same leases; * is a wildcard.",
    usual: [],
  }),
  steps: key({
    kind: stepRules,
    about: "Rules for the steps of these definitions' networks, by plugin type, as in steps.",
  }),
};

/** The rule for the definitions of some namespaces. */
export type DefinitionRule = ValuesOf<typeof ruleKeys>;

const definitionKeys = {
  trusted: key({
    kind: listOf(namespacesPattern),
    about:
      "Namespaces whose definitions count as the administrator's own; * is a wildcard. By default multusNamespace, with the profile multus every namespace.",
  }),
  rules: key({
    kind: listOfSections(section(ruleKeys), maxRules),
    about:
      "Rules for the definitions of further namespaces. Without a rule: components with the default grants, no native plugin.",
    usual: [],
  }),
};

/** The section; an undefined `trusted` gets its default from other keys. */
export interface WrittenDefinitions extends ValuesOf<typeof definitionKeys> {
  /** Grants of a component that no rule mentions. */
  readonly otherGrants: DelegateGrants;
}

/** The section of a call that goes on in spite of a mistake (DEL): the administrator's intention is unknown. */
export const mistakenDefinitions: WrittenDefinitions = { trusted: [], rules: [], otherGrants: {} };

/** The section of a configuration without it. */
export const noDefinitions: WrittenDefinitions = { rules: [], otherGrants: defaultGrants };

/** The section with every default filled in: the administrator's policy for NetworkAttachmentDefinitions. */
export interface DefinitionPolicy extends WrittenDefinitions {
  /** Patterns of the namespaces whose definitions count as the administrator's own. */
  readonly trusted: readonly string[];
}

/** The policy of Multus: every definition may do everything. */
export const trustEverybody: DefinitionPolicy = { ...noDefinitions, trusted: ["*"] };

/** The policy of a configuration without `definitions`: Multus' namespace is trusted. */
export const defaultDefinitionPolicy: DefinitionPolicy = { ...noDefinitions, trusted: ["kube-system"] };

/** The kind of the section. */
export const definitionSection = section(definitionKeys, {
  finish: (values): WrittenDefinitions => ({ ...values, otherGrants: defaultGrants }),
  flawed: () => mistakenDefinitions,
});
