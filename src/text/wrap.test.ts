import { expect, test } from "vitest";
import { wrap } from "./wrap.ts";

test("breaks at spaces, and leaves a long word whole", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("incomprehensible a", 5)).toEqual(["incomprehensible", "a"]);
});

test("a quoted text brings neither an escape sequence nor a line of its own", () => {
  const owner = "shop/web\u001B]0;title\u0007\r\nno conflicts \u009B2J";
  expect(wrap(`- 10.0.0.1 has two owners: ${owner}`, 80)).toEqual(["- 10.0.0.1 has two owners: shop/web no conflicts "]);
});
