import { expect, test } from "vitest";
import { shortHash } from "./ids.ts";

test.each([
  ["", "cbf29ce484222325"],
  ["a", "af63dc4c8601ec8c"],
  ["foobar", "85944171f73967e8"],
])("%j has the hash that FNV-1a's authors publish", (text, hash) => {
  expect(shortHash(text)).toBe(hash);
});
