import { expect, test } from "vitest";

import { quote } from "./quote.ts";

test("L-11: text is quoted like Go's %q", () => {
  expect(quote('a "b"\\\n\t\r\u0007\b\f\v')).toBe('"a \\"b\\"\\\\\\n\\t\\r\\a\\b\\f\\v"');
  expect(quote("\u001b[31m\0\u007f")).toBe('"\\x1b[31m\\x00\\x7f"');
  expect(quote("é ü 漢 😀")).toBe('"é ü 漢 😀"');
  expect(quote("\u200b\u00a0\ud800\u{e0001}")).toBe('"\\u200b\\u00a0\\ud800\\U000e0001"');
});

test("A-07: a gibibyte of output does not become a gibibyte of message", () => {
  expect(quote("x".repeat(1000), 10)).toBe('"xxxxxxxxxx"… (990 more)');
  expect(quote("x".repeat(10), 10)).toBe('"xxxxxxxxxx"');
});
