import { expect, test } from "vitest";
import { sizeText } from "./size-text.ts";

test.each([
  [0, "0 B"],
  [0.4, "0 B"],
  [1023, "1023 B"],
  [1024, "1.00 KiB"],
  [123_456_789, "118 MiB"],
  [2 ** 62, "4.10e+3 PiB"],
])("%d bytes are %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
