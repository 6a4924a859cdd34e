import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { documentedKeys } from "./plugins/documented-keys.ts";
import { vectorFacts } from "./plugins/vector-facts.ts";
import { pluginsPage, pluginsPagePath } from "./plugins-page.ts";

test("the table of plugins is that of the vectors, declarations and outcomes (npm run docs)", () => {
  expect(existsSync(pluginsPagePath) && readFileSync(pluginsPagePath, "utf8")).toBe(pluginsPage());
});

test("each refused key is a documented one", () => {
  for (const [type, { keys, refused = {} }] of Object.entries(documentedKeys))
    expect([type, Object.keys(refused).filter((key) => !keys.includes(key))]).toEqual([type, []]);
});

test("a key is found in any case, within objects and elements of lists only", () => {
  const { uses, verbs } = vectorFacts(".", "ovs");
  expect([uses("trunk.minID"), uses("ARGS.cni.ovnport"), uses("bridge")]).toEqual([true, true, true]);
  expect([uses("trunk.bridge"), uses("bridge.trunk"), uses("none")]).toEqual([false, false, false]);
  expect([...verbs].toSorted()).toEqual(["ADD", "CHECK", "DEL", "GC", "STATUS"]);
});
