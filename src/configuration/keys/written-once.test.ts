// A fact about a key stands in one place: the key's entry in a table. Types, reader, schema and pages come from it.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idleMultusKeys } from "../multus-keys.ts";
import { tableSchema } from "../table/table-schema.ts";
import { allKeys } from "./host-keys.ts";

const folder = join(import.meta.dirname, "..");

/** Files that translate or write configurations name keys of Multus and of plexusd's file. */
const writers = /^(?:multus-\w+|migration-\w+|written-configuration|foreign-steps|layers)\.ts$/;

/** The code of each file that reads configurations, without comments. */
const codes = new Map(
  globSync("**/*.ts", { cwd: folder })
    .filter((file) => !file.endsWith(".test.ts") && !file.startsWith("testing/") && !writers.test(file))
    .map((file) => {
      return [file, readFileSync(join(folder, file), "utf8").replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "")];
    }),
);

/** The objects that have each key, by the key's name. */
const objects = new Map<string, Set<string>>();

function collect(schema: unknown, object: string): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword !== "properties") collect(value, object);
    else
      for (const [name, each] of Object.entries(value as object)) {
        objects.set(name, (objects.get(name) ?? new Set()).add(object));
        collect(each, name);
      }
  }
}

collect(tableSchema(Object.fromEntries(Object.entries(allKeys).filter(([name]) => !Object.hasOwn(idleMultusKeys, name)))), "");

/** The number of entries with this name, or with the constant that stands for it. */
function entries(name: string): number {
  const all = [...codes.values()];
  const constants = all.flatMap((code) => [...code.matchAll(/const (\w+) = "(\w+)";/g)]);
  const [, constant] = constants.find(([, , text]) => text === name) ?? [];
  const named = constant === undefined ? `"?${name}"?` : `\\[${constant}\\]`;
  const entry = new RegExp(`[\\s{]${named}: (?:key(?:<\\w+>)?|limit|directories)\\(`, "g");
  return all.reduce((count, code) => count + [...code.matchAll(entry)].length, 0);
}

/** Descriptions and messages may mention a key. */
function withoutSentences(code: string): string {
  return code.replaceAll(/(["'`])[^"'`\n]* [^\n]*\1/g, "");
}

describe("a key of the configuration", () => {
  test("has one entry in a table for each object that it belongs to", () => {
    const found = [...objects].map(([name, { size }]) => ({ name, objects: size, entries: entries(name) }));
    expect(found.filter((each) => each.objects !== each.entries)).toEqual([]);
    expect(found.length).toBeGreaterThan(100);
  });

  test("is read without zod, which costs a call as much as a fifth of Node's start", () => {
    expect([...codes].filter(([, code]) => code.includes('"zod"')).map(([file]) => file)).toEqual([]);
  });

  test("stands in the file of its entry and in no other", () => {
    // Plain words such as `name` stand everywhere.
    const distinct = [...objects].filter(([name, { size }]) => /[a-z][A-Z]/.test(name) && size === 1);
    const places = distinct.map(([name]) => {
      const word = new RegExp(`(?<![\\w.])${name}\\b`);
      return [name, ...[...codes].filter(([, code]) => word.test(withoutSentences(code))).map(([file]) => file)];
    });
    expect(places.filter(({ length }) => length !== 2)).toEqual([]);
    expect(places.length).toBeGreaterThan(50);
    expect(places).toContainEqual(["callTimeoutMs", "keys/time-keys.ts"]);
  });
});
