// Generates docs/reference/provider-checks.md and provider.schema.json from the checks and the messages of providers (`npm run docs`). A test checks
// that they are current.

import { writeFileSync } from "node:fs";
import * as z from "zod";
import { providerChecks } from "./conformance/catalogue.ts";
import { providerMessages } from "./rules/provider-messages.ts";

/** Paths from the repository's root. */
export const providerPagePath = "docs/reference/provider-checks.md";
export const providerSchemaPath = "docs/reference/provider.schema.json";

/** The text of the JSON Schema: each message below `$defs`. */
export function providerSchema(): string {
  const { $defs } = z.toJSONSchema(z.union(Object.values(providerMessages)), { io: "input" });
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Messages of a provider of external ports",
    $defs,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** The page's text: a row for each check. */
export function providerPage(): string {
  const rows = providerChecks.map(({ id, title }) => `| ${id} | ${title} |`);
  return `# Checks of providers

For: authors of [providers of external ports](../how-to/write-a-provider.md). \`plexusctl provider conformance URL\` runs these checks; \`--only\` takes their
IDs. [provider.schema.json](provider.schema.json) has the messages as a JSON Schema: for example \`#/$defs/EnsureRequest\` and \`#/$defs/EnsureAnswer\`.

| check | rule |
|---|---|
${rows.join("\n")}
`;
}

if (import.meta.main) {
  writeFileSync(providerPagePath, providerPage());
  writeFileSync(providerSchemaPath, providerSchema());
}
