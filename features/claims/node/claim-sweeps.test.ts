import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { ClaimSweeps, sweepMs } from "./claim-sweeps.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

test("DR-11: a prepared claim that the API lacks later is removed while the daemon runs, and no sweep comes after stop()", async () => {
  const answers: Result<number>[] = [ok(0), ok(2), failed(fault("STORE_FAILED", "the disk is full")), ok(1)];
  const lines: string[] = [];
  let sweeps = 0;
  const claims = new ClaimSweeps(
    async () => {
      sweeps += 1;
      return answers.shift();
    },
    (level, text) => void lines.push(`${level}: ${text}`),
  );
  await claims.start();
  expect([sweeps, lines]).toEqual([1, []]);
  await vi.advanceTimersByTimeAsync(2 * sweepMs);
  expect(sweeps).toBe(3);
  expect(lines).toEqual([
    "info: claims: removed 2 prepared claims that the API does not have",
    "warn: claims: the sweep of prepared claims: the disk is full",
  ]);
  claims.stop();
  await vi.advanceTimersByTimeAsync(2 * sweepMs);
  expect(sweeps).toBe(3);
});

test("a sweep that waits for the API begins no second one, and the next one comes after its end", async () => {
  const waits = Promise.withResolvers<Result<number>>();
  let sweeps = 0;
  const claims = new ClaimSweeps(
    () => {
      sweeps += 1;
      return waits.promise;
    },
    () => undefined,
  );
  const started = claims.start();
  await vi.advanceTimersByTimeAsync(3 * sweepMs);
  expect(sweeps).toBe(1);
  waits.resolve(ok(0));
  await started;
  await vi.advanceTimersByTimeAsync(sweepMs);
  expect(sweeps).toBe(2);
  claims.stop();
});
