import { expect, test } from "vitest";
import { decodeValue, encodeValue } from "./import-values.ts";

test.each([
  ["an absent member", { ok: undefined }],
  ["a 64-bit integer", { size: 2n ** 63n }],
  ["bytes", [new Uint8Array([0, 255])]],
  ["ordinary values", { a: [1, "x", null, true, { b: {} }] }],
])("%s survives encoding and JSON", (_, value) => {
  expect(decodeValue(JSON.parse(JSON.stringify(encodeValue(value))))).toEqual(value);
});

test("a value of no type of WIT becomes a text", () => {
  const circular: unknown[] = [];
  circular.push(circular);
  expect(JSON.stringify(encodeValue(circular))).toContain("(object)");
  expect(encodeValue(() => 1)).toBe("(function)");
});

test("foreign forms are decoded as they are", () => {
  expect(decodeValue({ $integer: "x" })).toEqual({ $integer: "x" });
  expect(decodeValue({ $bytes: "0" })).toEqual({ $bytes: "0" });
});
