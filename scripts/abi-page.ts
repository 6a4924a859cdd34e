// Generates docs/reference/abi.md from the newest contract in wit/, the table of grants and the catalogue of errors (`npm run docs`). A
// test checks that the page is current.

import { readFileSync, writeFileSync } from "node:fs";
import { currentAbi, releasedAbis } from "../delegates/sdk/build/abi.ts";
import { docsOf } from "../wit/codegen/docs.ts";
import { catalogue, type FaultKind } from "../src/fault/catalogue.ts";
import type { TypeDef, TypeRef, WitFunction, WitModel } from "../wit/model.ts";
import { grantKeys } from "../src/configuration/keys/grant-keys.ts";
import { tableSchema } from "../src/configuration/table/table-schema.ts";

/** The page's path from the repository's root. */
export const abiPagePath = "docs/reference/abi.md";

/** The faults that end a component or its call, whatever the component does. */
const endingFaults: readonly FaultKind[] = [
  "COMPONENT_REFUSED",
  "CAPABILITY_NOT_GRANTED",
  "DELEGATE_TRAPPED",
  "ABI_VIOLATED",
  "LIMIT_TIME",
  "LIMIT_MEMORY",
  "LIMIT_INPUT",
  "LIMIT_OUTPUT",
  "LIMIT_LOG",
  "LIMIT_RECURSION",
];

const head = (versions: readonly string[]): string => `# The contract with delegates

For: authors of delegates, and of tools that make them. The package \`cni:delegate@${currentAbi}\` ([WIT](../../wit/${currentAbi}/delegate.wit)). A node runs components for ${versions.join(" and ")}.
A component names one version in all its imports and exports, and in \`abi\` of its declaration.

## What will never change

- A released version keeps its types, its functions, and the order of their members. A component for it runs on every later Plexus
  ([test](../../test/ship/compat/released.test.ts)).
- A component declares itself in the custom section \`plexus:delegate\`. An import that it does not declare, and a field that the declaration does not know, is refused.
- An administrator grants each capability. A component is not loaded without the grants of what it imports, unless it declares them as \`optional\`. A capability does
  nothing beyond its grant; the call then answers a fault of code 7 that names the grant's key.
- Each call has a fresh instance. Functions are synchronous. There is no WASI, clock, randomness, file, environment or network.
- The host converts results: a delegate sees the same records whatever the \`cniVersion\` of its list.

## How additions come

A new capability is a new interface, or a new function or operation. It comes in a new directory of \`wit/\` (1.1.0 and so on) that repeats the last one, and the host links both, side by side in one list.
A parameter's record gets further members only as options, so a component of an earlier version may leave them out. 1.0.0 and 1.1.0 are released with the first version of
Plexus; until then an interface may be added to 1.1.0. No released file is ever edited.

Left out: details of faults as records, because CNI's error object has one text; Events, because errors and \`log\` reach the node's log and the pod's Events already; the pod's other
interfaces, because a delegate's part is one attachment.

## Errors

A delegate's fault has CNI's code 1 to 99, or its own from 100. A code of 0 or above 2147483647 becomes 999. These faults end a component or its call instead of an answer:

| kind | CNI code | meaning |
|---|---|---|
${endingFaults.map((kind) => `| [\`${kind}\`](errors.md) | ${catalogue[kind].cni} | ${catalogue[kind].meaning} |`).join("\n")}
`;

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

/** The page's text. */
export function abiPage(): string {
  const model: WitModel = JSON.parse(readFileSync(`wit/${currentAbi}/generated/model.json`, "utf8"));
  const page = new AbiPage(model, docsOf(readFileSync(`wit/${currentAbi}/delegate.wit`, "utf8")), grantSchema());
  const world = model.worlds["delegate"];
  const capabilities = (world?.imports ?? []).filter((name) => Object.keys(model.interfaces[name]?.functions ?? {}).length > 0);
  return [
    head(releasedAbis()),
    "## Verbs\n",
    ...(world?.exports ?? []).map((name) => page.interfaceText(name)),
    "## Common types\n",
    page.interfaceText("types"),
    "## Capabilities\n",
    ...capabilities.map((name) => `### ${name}\n\n${page.grantText(name)}${page.interfaceText(name)}`),
  ].join("\n");
}

/** The schema of a type's grants, by capability. */
function grantSchema(): Readonly<Record<string, Described>> {
  const { properties = {} }: Described = tableSchema(grantKeys);
  return properties;
}

class AbiPage {
  readonly #model: WitModel;
  readonly #docs: ReadonlyMap<string, string>;
  readonly #grants: Readonly<Record<string, Described>>;

  constructor(model: WitModel, docs: ReadonlyMap<string, string>, grants: Readonly<Record<string, Described>>) {
    this.#model = model;
    this.#docs = docs;
    this.#grants = grants;
  }

  /** An interface: its description, functions and types. */
  interfaceText(name: string): string {
    const { functions, types } = this.#model.interfaces[name] ?? { functions: {}, types: {} };
    const rows = Object.entries(functions).map(
      ([func, type]) => `| \`${func}: ${functionText(type)}\` | ${this.#doc(`${name}.${func}`)} |`,
    );
    const table = rows.length === 0 ? [] : ["", "| function | meaning |", "|---|---|", ...rows];
    const defined = Object.entries(types).filter(([, definition]) => !isUse(definition));
    const lists = defined.flatMap(([type, definition]) => ["", ...this.#typeLines(`${name}.${type}`, type, definition)]);
    return [this.#doc(name), ...table, ...lists, ""].join("\n");
  }

  /** The keys of a capability's grant. */
  grantText(name: string): string {
    const keys = Object.entries(this.#grants[name]?.properties ?? {});
    const lines = keys.map(([key, { description = "" }]) => `- \`${key}\`: ${description}`);
    const intro = `Grant: \`wasm.grants.TYPE.${name}\`${keys.length === 0 ? ", without scopes." : ":"}`;
    return [intro, ...(lines.length === 0 ? [] : ["", ...lines]), "", ""].join("\n");
  }

  #typeLines(path: string, name: string, definition: TypeDef): readonly string[] {
    const doc = this.#doc(path);
    const intro = (kind: string): string => `**${kind} \`${name}\`**${doc === "" ? "" : `: ${doc}`}`;
    const member = (key: string, text: string): string => {
      const about = this.#doc(`${path}.${key}`);
      return `- \`${text}\`${about === "" ? "" : `: ${about}`}`;
    };
    if ("record" in definition)
      return [intro("record"), "", ...definition.record.map(([key, type]) => member(key, `${key}: ${typeText(type)}`))];
    if ("variant" in definition)
      return [
        intro("variant"),
        "",
        ...definition.variant.map(([key, type]) => member(key, type === null ? key : `${key}(${typeText(type)})`)),
      ];
    if ("enum" in definition) return [intro("enum"), "", ...definition.enum.map((key) => member(key, key))];
    if ("flags" in definition) return [intro("flags"), "", ...definition.flags.map((key) => member(key, key))];
    return [`${intro("type")} = \`${typeText(definition.alias)}\``];
  }

  #doc(path: string): string {
    return (this.#docs.get(path) ?? "").replaceAll("\n", " ").replaceAll("|", "\\|");
  }
}

function isUse(definition: TypeDef): boolean {
  return "alias" in definition && typeof definition.alias === "object" && "ref" in definition.alias;
}

function functionText({ params, result }: WitFunction): string {
  const list = params.map(([name, type]) => `${name}: ${typeText(type)}`).join(", ");
  return `func(${list})${result === null ? "" : ` -> ${typeText(result)}`}`;
}

function typeText(use: TypeRef): string {
  if (typeof use === "string") return use;
  if ("ref" in use) return use.ref.slice(use.ref.lastIndexOf(".") + 1);
  if ("list" in use) return `list<${typeText(use.list)}>`;
  if ("option" in use) return `option<${typeText(use.option)}>`;
  if ("tuple" in use) return `tuple<${use.tuple.map(typeText).join(", ")}>`;
  const { ok, err } = use.result;
  if (ok === null && err === null) return "result";
  return `result<${ok === null ? "_" : typeText(ok)}${err === null ? "" : `, ${typeText(err)}`}>`;
}

if (import.meta.main) writeFileSync(abiPagePath, abiPage());
