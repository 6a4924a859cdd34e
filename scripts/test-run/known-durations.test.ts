import { expect, test } from "vitest";

import { longestFirst } from "./known-durations.ts";

test("workers begin unknown files first, then long ones; equal ones stay in order", () => {
  const files = ["short", "new", "long", "newer", "short, too"];
  const durations = { short: 10, long: 500, "short, too": 10 };
  expect(longestFirst(files, (file) => file, durations)).toEqual(["new", "newer", "long", "short", "short, too"]);
});
