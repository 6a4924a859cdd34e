// Each parser of data that Plexus has not made itself stands in the table whose costs parse-cost.long.test.ts bounds.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import { parsers } from "./parsers.ts";

/** Functions with such names that read what Plexus itself makes, or a part of what another parser has read. */
const others: Readonly<Record<string, string>> = {
  parseArray: "the selection and PodNetworks use it",
  parseElements: "the selection uses it",
  parseDocument: "nearly all use it",
  parseConfiguration: "as parseDocument, with a cache",
  readString: "a field of a result",
  readObject: "a field of a result",
  readObjects: "a field of a result",
  readStrings: "a field of a result",
  readRange: "an element of a compiled set",
};

describe("the table of parsers", () => {
  test("FI-04: has every parser of src/ and of the features' rules", () => {
    const covered = new Set(parsers.flatMap(({ covers = [] }) => covers));
    const files = ["src", "features"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
    );
    const exported = files
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.includes("testing/"))
      .filter((file) => file.startsWith("src/") || /^features\/[^/]+\/rules(?:\.ts$|\/)/.test(file))
      .flatMap((file) => [
        ...readFileSync(join(root, file), "utf8").matchAll(/^export function\*? ((?:parse|read|decode|split)[A-Z]\w*)/gm),
      ])
      .map(([, name = ""]) => name);
    const missing = exported.filter((name) => !covered.has(name) && !Object.hasOwn(others, name));
    expect(exported.length).toBeGreaterThan(60);
    expect([...new Set(missing)]).toEqual([]);
  });
});
