import { expect, it } from "vitest";
import { CopyAttempts } from "./copy-attempts.ts";

it("FI-43: after three failures one after the other, new processes are started for a while", () => {
  const attempts = new CopyAttempts(true);
  const fail = (): boolean => {
    const isTried = attempts.next();
    if (isTried) attempts.tried(false);
    return isTried;
  };
  expect([fail(), fail()]).toEqual([true, true]);
  expect(attempts.next()).toBe(true);
  attempts.tried(true);
  expect([fail(), fail(), fail()]).toEqual([true, true, true]);
  expect(Array.from({ length: 20 }, fail)).not.toContain(true);
  expect(fail()).toBe(true);
});

it("FI-43: without a zygote no copy is tried", () => {
  expect(new CopyAttempts(false).next()).toBe(false);
});
