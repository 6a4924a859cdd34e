import { expect, test } from "vitest";

import { fault, joinFaults } from "./fault.ts";

test("joined faults keep all messages, with and without details", () => {
  const bare = { kind: "PLUGIN_FAILED", code: 7, msg: "one" } as const;
  const others = [fault("STORE_FAILED", "two"), fault("INTERNAL", "three")];
  expect(joinFaults([bare, ...others])).toEqual({ ...bare, details: "also: two\nalso: three" });
  expect(joinFaults([{ ...bare, details: "why" }, ...others])).toEqual({ ...bare, details: "also: two\nalso: three\nwhy" });
  expect([joinFaults([bare]), joinFaults([])]).toEqual([bare, undefined]);
});
