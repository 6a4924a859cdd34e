import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { controllerMetricDefinitions } from "../../telemetry/metrics/controller-definitions.ts";
import { MetricsOf } from "../../telemetry/metrics/metrics.ts";
import { fakeTimersClock } from "../../system/testing/virtual-clock.ts";
import { observeWork } from "./observe-work.ts";
import { type WorkOutcome, WorkQueue } from "../../cluster/work/work-queue.ts";

const done: WorkOutcome = { kind: "done" };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A queue whose work waits for `finish`. */
function steered(workers: number, outcomes: Record<string, WorkOutcome[]> = {}, laneOf?: (key: string) => string) {
  const begun: string[] = [];
  const open = new Map<string, () => void>();
  const queue = new WorkQueue(
    async (key) => {
      begun.push(key);
      await new Promise<void>((resolve) => open.set(key, resolve));
      return outcomes[key]?.shift() ?? done;
    },
    fakeTimersClock,
    workers,
    undefined,
    () => 0,
    laneOf,
  );
  const ended = new AbortController();
  const running = queue.run(ended.signal);
  const finish = async (key: string): Promise<void> => {
    open.get(key)?.();
    await vi.advanceTimersByTimeAsync(5);
  };
  return { queue, begun, finish, ended, running };
}

test("a key that waits is worked on once, however often it is added", async () => {
  const { queue, begun, finish } = steered(1);
  for (const key of ["a", "b", "b", "b"]) queue.add(key);
  expect(begun).toEqual(["a"]);
  await finish("a");
  await finish("b");
  expect(begun).toEqual(["a", "b"]);
  expect(queue.size).toBe(0);
});

test("keys of one lane leave workers free for other lanes", async () => {
  const { queue, begun, finish } = steered(4, {}, (key) => key.split("/")[0] ?? "");
  for (const key of ["shop/a", "shop/b", "shop/c", "shop/d"]) queue.add(key);
  expect(begun).toEqual(["shop/a", "shop/b"]);
  queue.add("bank/a");
  expect(begun).toEqual(["shop/a", "shop/b", "bank/a"]);
  await finish("shop/a");
  await finish("bank/a");
  expect(begun).toEqual(["shop/a", "shop/b", "bank/a", "shop/c"]);
  await finish("shop/b");
  expect(begun.at(-1)).toBe("shop/d");
});

test("a key that is added during its work is worked on again, and never twice at once", async () => {
  const { queue, begun, finish } = steered(4);
  queue.add("a");
  queue.add("a");
  expect(begun).toEqual(["a"]);
  await finish("a");
  expect(begun).toEqual(["a", "a"]);
});

test("a failure is tried again after a pause, a rejection too", async () => {
  let attempts = 0;
  const queue = new WorkQueue(
    () => {
      attempts += 1;
      if (attempts === 1) return Promise.reject(new Error("a defect"));
      return Promise.resolve(attempts === 2 ? { kind: "failed", why: "no answer" } : done);
    },
    fakeTimersClock,
    1,
    undefined,
    () => 0,
  );
  const ended = new AbortController();
  void queue.run(ended.signal);
  queue.add("a");
  const after = async (ms: number): Promise<number> => {
    await vi.advanceTimersByTimeAsync(ms);
    return attempts;
  };
  // The pauses are 50 ms and 100 ms.
  expect([await after(49), await after(1), await after(99), await after(1)]).toEqual([1, 2, 2, 3]);
  ended.abort();
});

test("a conflict with another writer is tried again after a pause, and is no warning", async () => {
  const lines: string[] = [];
  const ended = new AbortController();
  const log = (level: string, text: string): number => lines.push(`${level} ${text}`);
  const metrics = new MetricsOf(controllerMetricDefinitions);
  const outcomes: WorkOutcome[] = [{ kind: "conflict", why: "HTTP 409" }, done];
  const queue = new WorkQueue(
    () => Promise.resolve(outcomes.shift() ?? done),
    fakeTimersClock,
    1,
    observeWork({ metrics, log }, "test"),
    () => 0,
  );
  void queue.run(ended.signal);
  queue.add("a");
  await vi.advanceTimersByTimeAsync(49);
  expect(outcomes).toEqual([done]);
  await vi.advanceTimersByTimeAsync(1);
  expect(outcomes).toEqual([]);
  expect(lines).toEqual(["debug a: HTTP 409"]);
  expect(await metrics.text()).toContain('plexus_controller_work_total{part="test",outcome="conflict"} 1');
  ended.abort();
});

test("work that is due later waits, and an earlier time wins", async () => {
  const { queue, begun } = steered(1);
  queue.add("a", 60_000);
  queue.add("a", 5);
  queue.add("a", 60_000);
  await vi.advanceTimersByTimeAsync(4);
  expect(begun).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(["a"]);
});

test("the end waits for the work under way, and begins no other", async () => {
  const { queue, begun, finish, ended, running } = steered(1);
  queue.add("a");
  queue.add("b");
  ended.abort();
  let isEnded = false;
  void running.then(() => (isEnded = true));
  await vi.advanceTimersByTimeAsync(5);
  expect(isEnded).toBe(false);
  await finish("a");
  expect(isEnded).toBe(true);
  expect(begun).toEqual(["a"]);
});
