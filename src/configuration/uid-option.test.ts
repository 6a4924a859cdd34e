import { expect, test } from "vitest";
import { readUidOption } from "./uid-option.ts";

test.each([
  ["same", "same"],
  ["100000:65536", { first: 100_000, count: 65_536 }],
  ["2147483646:1", { first: 2_147_483_646, count: 1 }],
])("%s is read", (text, uids) => {
  expect(readUidOption(text)).toEqual(uids);
});

test.each(["", "5", "0:5", "5:0", "2147483646:2", "-1:5", "a:b", "5:5:5", "Same", "1:99999999999"])("%j is refused", (text) => {
  expect(readUidOption(text)).toBeUndefined();
});
