import { expect, test } from "vitest";
import { mayMakeLink } from "./link-makers.ts";

test.each([
  [["loopback"], false],
  [["tuning", "portmap"], false],
  [["bridge", "tuning"], true],
  [["of-a-vendor"], true],
])("plugins %j may make a link: %s", (types, expected) => {
  expect(mayMakeLink(types.map((type) => ({ type })))).toBe(expected);
});
