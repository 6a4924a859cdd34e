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
have Multus' meaning. An unknown key is an error that names the nearest valid one. Exactly one of \`delegates\` and
\`clusterNetwork\` says what the default network is. [configuration.schema.json](configuration.schema.json) has the same for
editors.

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
