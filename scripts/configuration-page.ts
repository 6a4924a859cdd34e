// docs/reference/configuration.md and configuration.schema.json, made from the schema in the code: `npm run docs` writes
// them, a test holds them to it.

import { writeFileSync } from "node:fs";
import * as z from "zod";
import { hostConfigurationSchema } from "../src/configuration/schema.ts";

export const configurationPagePath = "docs/reference/configuration.md";
export const configurationSchemaPath = "docs/reference/configuration.schema.json";

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: Described | boolean;
  readonly anyOf?: readonly Described[];
  readonly type?: string;
  readonly enum?: readonly string[];
}

/** The JSON Schema's text. */
export function configurationSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(hostConfigurationSchema), undefined, 2)}\n`;
}

/** The page: a row for each key, those of nested objects with their path. */
export function configurationPage(): string {
  const schema: Described = JSON.parse(configurationSchema());
  const rows = new Map<string, string>();
  for (const shape of schema.anyOf ?? []) collect(shape, "", rows);
  return `# Configuration keys

Plexus is configured by its own CNI configuration, which the runtime hands it on stdin with every call. Keys that Multus has too
have Multus' meaning, and every key of Multus is known: one that has no effect here gets a warning. A key in another case is
read as the key, as Multus' decoder does, with a warning. One of \`delegates\` and \`clusterNetwork\` says what the default network
is; where both are there, it is \`clusterNetwork\`, as with Multus. [configuration.schema.json](configuration.schema.json) has the
same for editors.

**Mistakes.** An unknown key, or a value of the wrong kind, is an error of ADD, STATUS and GC that names the nearest valid key: a typo
in a key that guards something must not pass for "not configured". DEL and CHECK go on with a warning, because what was
attached must stay removable; only a mistake in \`name\`, \`cniVersion\`, \`cniDir\` or \`runDir\` stops them, because it hides the
journal. Where \`wasm\` has a mistake, they run with nothing granted.

**Warnings** go to the log with each ADD (\`logToStderr\`, \`logFile\`).

**Log.** A call appends lines to stderr, which the runtime puts into its own log, and to \`logFile\`, with the daemon and without. It doesn't
rotate the file: let logrotate do that. The daemon has [a log of its own](../how-to/see-what-happens.md#the-log) besides.

| key | type | meaning |
|---|---|---|
${[...rows.values()].join("\n")}
`;
}

function collect(shape: Described, path: string, rows: Map<string, string>): void {
  for (const [key, each] of Object.entries(shape.properties ?? {})) {
    const at = path === "" ? key : `${path}.${key}`;
    rows.set(at, `| \`${at}\` | ${typeOf(each)} | ${each.description ?? ""} |`);
    collect(each, at, rows);
    const { additionalProperties: named } = each;
    if (typeof named === "object" && named.properties !== undefined) collect(named, `${at}.TYPE`, rows);
  }
}

function typeOf(each: Described): string {
  if (each.enum !== undefined) return each.enum.join(" or ");
  if (each.anyOf !== undefined) return each.anyOf.map(typeOf).join(" or ");
  return each.type ?? "any";
}

if (import.meta.main) {
  writeFileSync(configurationPagePath, configurationPage());
  writeFileSync(configurationSchemaPath, configurationSchema());
}
