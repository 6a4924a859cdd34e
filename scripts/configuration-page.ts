// Generates docs/reference/configuration.md and configuration.schema.json from the tables of keys in src/configuration/keys/ (`npm run docs`). A
// test checks that they are current.

import { writeFileSync } from "node:fs";
import { hostSchema } from "../src/configuration/keys/host-keys.ts";

/** Paths from the repository's root. */
export const configurationPagePath = "docs/reference/configuration.md";
export const configurationSchemaPath = "docs/reference/configuration.schema.json";

/** The used part of a JSON Schema. */
interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: Described | boolean;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
  readonly type?: string;
  readonly enum?: readonly string[];
}

/** The text of the JSON Schema. */
export function configurationSchema(): string {
  return `${JSON.stringify(hostSchema(), undefined, 2)}\n`;
}

/** The page's text: a row for each key. Keys of nested objects have their path. */
export function configurationPage(): string {
  const schema: Described = JSON.parse(configurationSchema());
  const rows = new Map<string, string>();
  collect(schema, "", rows);
  return `# Configuration keys

Plexus reads its configuration from its own CNI configuration, which the runtime passes on stdin with every call. Plexus knows all keys of Multus.
They have Multus' meaning, or no effect and a warning. The case of a key does not matter, as with Multus' decoder, but another case gets a
warning. Either \`delegates\` or \`clusterNetwork\` defines the default network. If both are present, \`clusterNetwork\` counts, as with
Multus. [configuration.schema.json](configuration.schema.json) is the same as a JSON Schema for editors.

**Mistakes.** An unknown key or a value of the wrong type is an error of ADD, STATUS and GC, which names the nearest valid key: a typo
in a protective key must not mean "not configured". DEL and CHECK continue with a warning, because attachments must stay
removable. Only a mistake in \`name\`, \`cniVersion\`, \`cniDir\` or \`runDir\` stops DEL and CHECK, because it hides the
journal. If \`wasm\` has a mistake, DEL and CHECK run without any grant.

**Warnings** are logged with each ADD (\`logToStderr\`, \`logFile\`).

**Log.** A call writes lines to stderr, which the runtime copies to its own log, and to \`logFile\`, with and without the daemon. Plexus does not
rotate the file: use logrotate. The daemon also has [its own log](../how-to/see-what-happens.md#the-log).

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
    if (each.items !== undefined) collect(each.items, `${at}[]`, rows);
    const { additionalProperties: named } = each;
    // Grants of a rule have the keys of `wasm.grants`, which the page lists once.
    if (typeof named === "object" && named.properties !== undefined && !at.endsWith("[].grants"))
      collect(named, `${at}.TYPE`, rows);
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
