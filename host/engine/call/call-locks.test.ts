import { expect, test } from "vitest";
import { lockByte } from "./call-locks.ts";

test("a name's byte is a safe integer above the reserved bytes, and 50,000 names have different bytes", () => {
  const names = Array.from({ length: 50_000 }, (_, index) => `${index.toString(16).padStart(64, "0")}@cluster@eth${index % 3}`);
  const bytes = names.map(lockByte);
  expect(bytes.every((byte) => Number.isSafeInteger(byte) && byte >= 16)).toBe(true);
  expect(new Set(bytes).size).toBe(names.length);
  expect(lockByte("")).toBeGreaterThanOrEqual(16);
  expect(lockByte("a@b@eth0")).not.toBe(lockByte("b@a@eth0"));
});
