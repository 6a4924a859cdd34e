// The forms in which plexusctl prints: tables, JSON, YAML.

import type { Output } from "./options.ts";

/** Maximum columns of a table, except with `-o wide`. */
const tableWidth = 80;

/** `value` as JSON or YAML, or the table that `text` makes for a width in columns. */
export async function formatted(value: unknown, output: Output, text: (width: number) => string): Promise<string> {
  switch (output) {
    case "json":
      return `${JSON.stringify(value, undefined, 2)}\n`;
    case "yaml": {
      const { stringify } = await import("yaml");
      return stringify(value);
    }
    case "wide":
      return text(Infinity);
    default:
      return text(tableWidth);
  }
}
