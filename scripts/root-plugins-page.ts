// Writes the table of docs/how-to/nodes-without-root-plugins.md: the reference plugins, the components that replace them, and the capabilities that a
// component declares. `npm run docs` runs this program.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { fieldPlugins, referencePlugins, replacedBy } from "../src/cni/reference-plugins.ts";

export const rootPluginsPage = "docs/how-to/nodes-without-root-plugins.md";

const declaration = z.looseObject({
  capabilities: z.record(z.string(), z.string()),
  optional: z.array(z.string()).default([]),
});

/** The delegates by the plugin type that they replace. */
function delegatesByType(): ReadonlyMap<string, string> {
  const names = readdirSync("delegates").filter((name) => existsSync(join("delegates", name, "delegate.json")));
  return new Map(names.map((name) => [replacedBy(name), name]));
}

/** The table of all reference plugins. A plugin without a component needs its native program. */
export function rootPluginsTable(): string {
  const delegates = delegatesByType();
  const rows = [...referencePlugins, ...fieldPlugins].map((type) => {
    const name = delegates.get(type);
    if (name === undefined) return `| \`${type}\` | none: the type needs the native plugin | |`;
    return `| \`${type}\` | [${name}](../../delegates/${name}/README.md) | ${capabilitiesOf(name)} |`;
  });
  return ["| type | component | capabilities, in place of root |", "|---|---|---|", ...rows].join("\n");
}

function capabilitiesOf(name: string): string {
  const { capabilities, optional } = declaration.parse(
    JSON.parse(readFileSync(join("delegates", name, "delegate.json"), "utf8")),
  );
  const names = Object.keys(capabilities).filter((each) => each !== "log");
  const texts = names.map((each) => (optional.includes(each) ? `\`${each}\` (optional)` : `\`${each}\``));
  return texts.length === 0 ? "none but `log`" : texts.join(", ");
}

/** The page's text around its table. Throws if the page has no table of types. */
export function tableIn(page: string): { readonly before: string; readonly table: string; readonly after: string } {
  const start = page.indexOf("\n| type |") + 1;
  if (start === 0) throw new Error(`${rootPluginsPage} has no table of types`);
  const end = page.indexOf("\n\n", start);
  return { before: page.slice(0, start), table: page.slice(start, end), after: page.slice(end) };
}

if (import.meta.main) {
  const { before, after } = tableIn(readFileSync(rootPluginsPage, "utf8"));
  writeFileSync(rootPluginsPage, `${before}${rootPluginsTable()}${after}`);
}
