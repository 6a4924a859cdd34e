// The JSON Schema of a table of keys.

import type { Key, KeyTable } from "./key.ts";
import { keysWhere } from "./key.ts";
import type { JsonSchema } from "./kind.ts";

/** The schema of an object with the keys of a table and no other. */
export function tableSchema(table: KeyTable): JsonSchema {
  const required = keysWhere(table, (key) => key.required !== undefined);
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(table).map(([name, key]) => [name, keySchema(key)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** The schema of a key's value, with its meaning and its default. */
function keySchema(key: Key<unknown>): JsonSchema {
  const usual = writtenDefault(key);
  return { description: aboutText(key), ...key.kind.schema(), ...(usual === undefined ? {} : { default: usual }) };
}

/** The key's meaning, with its default. */
export function aboutText(key: Key<unknown>): string {
  return key.about.replaceAll("{usual}", () => {
    const usual = writtenDefault(key);
    return key.kind.show?.(usual) ?? (typeof usual === "string" ? usual : JSON.stringify(usual));
  });
}

/** The default as JSON; undefined: none, or a section's. */
function writtenDefault({ kind, usual }: Key<unknown>): unknown {
  const written = kind.written === undefined ? usual : kind.written(usual);
  return typeof written === "object" && !Array.isArray(written) ? undefined : written;
}
