import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { referencePlugins, replacedPlugins } from "../src/cni/reference-plugins.ts";
import { rootPluginsPage, rootPluginsTable, tableIn } from "./root-plugins-page.ts";

test("the table of reference plugins is that of the delegates' declarations (npm run docs)", () => {
  expect(tableIn(readFileSync(rootPluginsPage, "utf8")).table).toBe(rootPluginsTable());
});

test("each delegate that replaces a plugin of another name is there", () => {
  for (const [delegate, type] of Object.entries(replacedPlugins)) {
    expect([delegate, existsSync(`delegates/${delegate}/delegate.json`), existsSync(`delegates/${type}`)]).toEqual([
      delegate,
      true,
      false,
    ]);
    expect(referencePlugins).toContain(type);
  }
});
