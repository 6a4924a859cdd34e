import { expect, test } from "vitest";
import { referencePlugins, replacedBy, replacedPlugins } from "./reference-plugins.ts";

test("a delegate replaces the reference plugin of its own name, or the listed one", () => {
  expect(replacedBy("bridge-adapter")).toBe("bridge");
  expect(replacedBy("ipam-host-local")).toBe("host-local");
  expect(referencePlugins.map(replacedBy)).toEqual([...referencePlugins]);
  expect(Object.values(replacedPlugins).filter((name) => !referencePlugins.includes(name))).toEqual([]);
});
