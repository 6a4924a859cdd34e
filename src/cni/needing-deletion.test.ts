import { expect, test } from "vitest";
import { fault } from "../fault/fault.ts";
import { needingDeletion } from "./needing-deletion.ts";

test("MO-14: a plugin's code 3, which says that no DEL is needed, is replaced, and the details name it", () => {
  const replaced = needingDeletion(fault("PLUGIN_FAILED", "no such container", { code: 3, details: "c1" }));
  expect(replaced).toMatchObject({ kind: "PLUGIN_FAILED", code: 999, msg: "no such container" });
  expect(replaced.details).toMatch(/^The plugin's code is 3, .*\nc1\n/);
});

test.each([1, 11, 50, 105])("MO-14: the code %i stays", (code) => {
  const reason = fault("PLUGIN_FAILED", "x", { code });
  expect(needingDeletion(reason)).toBe(reason);
});

test("MO-14: without details of the plugin, the replaced code alone is named", () => {
  const { details: _remedy, ...bare } = fault("PLUGIN_FAILED", "no such container", { code: 3 });
  expect(needingDeletion(bare).details).toMatch(/^The plugin's code is 3, .* it needs one\.$/u);
});
