import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallQueue, type Turn } from "./call-queue.ts";

const stays = (): void => {};

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, passed: promise };
}

const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Lets the calls whose turn has come begin. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("MO-29 serves up to its bound at once, lets up to its bound wait in order, and refuses further calls at once", async () => {
  const queue = new CallQueue({ active: 2, waiting: 2 });
  const gates = [gate(), gate(), gate(), gate()];
  const begun: number[] = [];
  const calls = gates.map(({ passed }, index) =>
    queue.enter(
      "",
      async () => {
        begun.push(index);
        await passed;
        return index;
      },
      stays,
    ),
  );
  expect(await queue.enter("", async () => 4, stays)).toEqual({ kind: "refused" });
  expect([queue.active, queue.waiting, begun]).toEqual([2, 2, [0, 1]]);
  gates[1]?.open();
  expect(await calls[1]).toEqual({ kind: "served", value: 1 });
  await settle();
  expect([queue.active, queue.waiting, begun]).toEqual([2, 1, [0, 1, 2]]);
  for (const { open } of gates) open();
  expect(await Promise.all(calls)).toEqual([0, 1, 2, 3].map((value) => ({ kind: "served", value })));
  expect([queue.active, queue.waiting]).toEqual([0, 0]);
});

test("gives waiting calls of all namespaces back, and lets running calls end", async () => {
  const queue = new CallQueue({ active: 1, waiting: 3 });
  const { open, passed } = gate();
  const running = queue.enter("a", () => passed, stays);
  const waiting = ["a", "b", "b"].map((name) => queue.enter(name, () => Promise.reject(new Error("must not begin")), stays));
  queue.giveBack();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ kind: "given-back" })));
  expect([queue.active, queue.waiting]).toEqual([1, 0]);
  open();
  expect(await running).toEqual({ kind: "served", value: undefined });
  expect(await queue.enter("a", async () => 1, stays)).toEqual({ kind: "served", value: 1 });
});

test("serves the next call after a failed call", async () => {
  const queue = new CallQueue({ active: 1, waiting: 1 });
  const failing = queue.enter(
    "a",
    async () => {
      throw new Error("broken");
    },
    stays,
  );
  const next = queue.enter("b", async () => "served", stays);
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toEqual({ kind: "served", value: "served" });
});

test("a call that leaves the queue is never served, and its place is free", async () => {
  const queue = new CallQueue({ active: 1, waiting: 1 });
  const { open, passed } = gate();
  const first = queue.enter("", () => passed, stays);
  let leave = stays;
  const left = queue.enter(
    "",
    async () => "served",
    (now) => (leave = now),
  );
  expect(await queue.enter("", async () => "refused", stays)).toEqual({ kind: "refused" });
  leave();
  expect([await left, queue.waiting]).toEqual([{ kind: "left" }, 0]);
  const next = queue.enter("", async () => "next", stays);
  open();
  await first;
  leave();
  expect([await next, queue.active]).toEqual([{ kind: "served", value: "next" }, 0]);
});

describe("with calls of several namespaces", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  interface Sent {
    readonly namespace: string;
    /** When the call arrives, and how long it takes, in ms. */
    readonly at: number;
    readonly takes: number;
  }
  interface Ended {
    readonly kind: Turn<void>["kind"];
    readonly waitedMs: number;
  }

  /** Sends the calls by the scripted clock and answers how each ended. */
  async function run(queue: CallQueue, sent: readonly Sent[]): Promise<readonly Ended[]> {
    const calls = sent.map(async ({ namespace, at, takes }): Promise<Ended> => {
      await after(at);
      let begunAt = 0;
      const turn = await queue.enter(
        namespace,
        () => {
          begunAt = performance.now();
          return after(takes);
        },
        stays,
      );
      return { kind: turn.kind, waitedMs: begunAt - at };
    });
    const started = performance.now();
    const ended = Promise.all(calls);
    await vi.runAllTimersAsync();
    return (await ended).map(({ kind, waitedMs }) => ({ kind, waitedMs: waitedMs - started }));
  }
  const calls = (count: number, call: Sent): readonly Sent[] => Array.from({ length: count }, () => call);

  test("one namespace's slow calls leave slots free, so that another namespace's call begins at once", async () => {
    const queue = new CallQueue({ active: 4, waiting: 512 });
    const hostile = calls(20, { namespace: "hostile", at: 0, takes: 60_000 });
    const victim = [1, 2, 3].map((at) => ({ namespace: "shop", at: at * 1000, takes: 30 }));
    const ended = await run(queue, [...hostile, ...victim]);
    expect(ended.slice(20).map(({ waitedMs }) => waitedMs)).toEqual([0, 0, 0]);
    expect(ended.every(({ kind }) => kind === "served")).toBe(true);
  });

  test("calls of a namespace with nothing in work overtake the waiting calls of all others", async () => {
    const queue = new CallQueue({ active: 4, waiting: 512 });
    // Four namespaces together hold every slot.
    const hostile = ["a", "b", "c", "d"].flatMap((namespace) => calls(10, { namespace, at: 0, takes: 5000 }));
    const ended = await run(queue, [...hostile, { namespace: "shop", at: 100, takes: 30 }]);
    expect(ended.at(-1)).toEqual({ kind: "served", waitedMs: 4900 });
  });

  test("free slots go to the waiting namespaces in turn", async () => {
    const queue = new CallQueue({ active: 1, waiting: 512 });
    const order: string[] = [];
    const all = ["a", "a", "a", "a", "b", "b", "c"].map((namespace) =>
      queue.enter(namespace, async () => void order.push(namespace), stays),
    );
    await Promise.all(all);
    expect(order.join("")).toBe("abcabaa");
  });

  test("a namespace alone gets half of the slots, two get three quarters; calls without one may take all", async () => {
    const queue = new CallQueue({ active: 8, waiting: 512 });
    const { open, passed } = gate();
    const enter = (count: number, namespace: string) =>
      Array.from({ length: count }, () => queue.enter(namespace, () => passed, stays));
    const first = enter(20, "a");
    expect(queue.active).toBe(4);
    const second = enter(20, "b");
    expect(queue.active).toBe(6);
    const others = enter(20, "");
    expect([queue.active, queue.waiting]).toEqual([8, 52]);
    open();
    await Promise.all([...first, ...second, ...others]);
    expect([queue.active, queue.waiting]).toEqual([0, 0]);
  });

  test("a full queue refuses the newest call of the namespace with the most waiting calls", async () => {
    const queue = new CallQueue({ active: 1, waiting: 4 });
    const { open, passed } = gate();
    const first = queue.enter("hostile", () => passed, stays);
    const waiting = [1, 2, 3, 4].map((number) => queue.enter("hostile", async () => number, stays));
    const victim = queue.enter("shop", async () => "served", stays);
    expect(await waiting[3]).toEqual({ kind: "refused" });
    expect(await queue.enter("hostile", async () => 5, stays)).toEqual({ kind: "refused" });
    // Lanes of equal length: the call that arrives is refused.
    const second = queue.enter("shop", async () => "served", stays);
    expect(await waiting[2]).toEqual({ kind: "refused" });
    expect(await queue.enter("shop", async () => "refused", stays)).toEqual({ kind: "refused" });
    open();
    expect(await Promise.all([first, victim, second])).toMatchObject([
      { kind: "served" },
      { kind: "served" },
      { kind: "served" },
    ]);
    expect([queue.active, queue.waiting]).toEqual([0, 0]);
  });
});
