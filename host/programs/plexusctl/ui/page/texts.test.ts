import { expect, test } from "vitest";
import { duration, matches, median, shortened, timeOfDay } from "./texts.ts";

test("durations have the digits that a reader can use", () => {
  expect([0.0123, 9.5, 12.34, 999.4, 1234, 61_234].map(duration)).toEqual([
    "0.01 ms",
    "9.50 ms",
    "12.3 ms",
    "999.4 ms",
    "1.23 s",
    "61.2 s",
  ]);
});

test("a shortened text never cuts through a character", () => {
  expect(shortened("abc", 3)).toBe("abc");
  expect(shortened("abcd", 3)).toBe("ab…");
  expect(shortened("😀😀😀", 3)).toBe("😀😀😀");
  expect(shortened("😀😀😀😀", 3)).toBe("😀😀…");
  expect(shortened("x".repeat(10_000), 5)).toBe("xxxx…");
});

test("medians, times of day and the filter", () => {
  expect([median([]), median([3]), median([9, 1, 5]), median([4, 1, 2, 3])]).toEqual([undefined, 3, 5, 2]);
  expect([timeOfDay("2026-11-24T12:00:01.512Z"), timeOfDay("soon")]).toEqual(["12:00:01.512", "soon"]);
  expect([matches(" CART ", "shop/cart-7"), matches("", "x"), matches("cart", "pods", "10.0.0.1")]).toEqual([true, true, false]);
});
