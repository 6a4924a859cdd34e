import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { modelText, releases } from "./wit-model.ts";

test("each released model.json is generated from its WIT", async () => {
  const all = await releases();
  expect(all.map((r) => r.version)).toContain("1.0.0");
  for (const release of all) {
    expect(await readFile(release.model, "utf8")).toBe(await modelText(release.wit));
  }
});
