// Answers of an API server that a real one cannot be made to give: writes without an answer, and conflicts for ever.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { leaseObject } from "../../../src/kube/lease.ts";
import type { ObjectAnswer } from "../../cluster/kube/api-objects.ts";
import { fakeTimersClock } from "../../system/testing/virtual-clock.ts";
import { Elector } from "./elector.ts";

const names = { namespace: "n", name: "l" };
const leaseSeconds = 3;
const conflict: ObjectAnswer = { kind: "conflict", why: "HTTP 409" };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** An elector whose lease is its own from the start, and whose writes have these answers; the last one repeats. */
function electorWith(...writes: readonly (ObjectAnswer | Promise<ObjectAnswer>)[]): { elector: Elector; problems: string[] } {
  const problems: string[] = [];
  const now = new Date().toISOString();
  const content = { holder: "me", durationSeconds: 1, transitions: 0, renewTime: now, acquireTime: now };
  const object = leaseObject(names, content, "1");
  let count = 0;
  const write = async (): Promise<ObjectAnswer> => {
    count += 1;
    return writes[Math.min(count, writes.length) - 1] ?? conflict;
  };
  const elector = new Elector({
    clock: fakeTimersClock,
    objects: { get: async () => ({ kind: "object", object }), create: write, replace: write },
    ...names,
    identity: "me",
    leaseSeconds,
    onChange: () => undefined,
    onLook: (problem) => void (problem !== undefined && problems.push(problem)),
    warn: () => undefined,
  });
  return { elector, problems };
}

test("a leader whose renewal gets no answer stops at its deadline, not when the answer comes", async () => {
  const late = Promise.withResolvers<ObjectAnswer>();
  const { elector } = electorWith({ kind: "object", object: {} }, late.promise);
  const stop = new AbortController();
  const leading = Promise.withResolvers<AbortSignal>();
  const running = elector.run((signal) => {
    leading.resolve(signal);
    return new Promise((ended) => signal.addEventListener("abort", () => ended()));
  }, stop.signal);
  const leads = await leading.promise;
  // The deadline is 2/3 of the lease.
  await vi.advanceTimersByTimeAsync(2_000 * (leaseSeconds / 3) - 1);
  expect(leads.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(leads.aborted).toBe(true);
  stop.abort();
  late.resolve(conflict);
  await running;
});

test("conflicts without another leader are told, since no replica can lead", async () => {
  const { elector, problems } = electorWith(conflict);
  const stop = new AbortController();
  const running = elector.run(() => Promise.reject(new Error("leads")), stop.signal);
  while (problems.length === 0) await vi.advanceTimersByTimeAsync(100);
  stop.abort();
  await running;
  expect(problems[0]).toBe("HTTP 409");
});
