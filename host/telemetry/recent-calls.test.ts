import { expect, test } from "vitest";
import { VirtualClock } from "../system/testing/virtual-clock.ts";
import { fault } from "../../src/fault/fault.ts";
import type { StepIdentity } from "../engine/events/call-events.ts";
import { maxCalls, maxUnits, RecentCalls } from "./recent-calls.ts";
import type { CallNames } from "./recent-calls-document.ts";
import type { RecentCallsDocument } from "./recent-calls-document.ts";
import { cpuMs } from "../../test/lab/cpu-ms.ts";

const names: CallNames = { request: "r1", verb: "ADD", pod: "shop/cart-7", container: "c1", ifname: "eth0" };
const bridge: StepIdentity = {
  containerId: "c1",
  network: "pods",
  ifname: "eth0",
  verb: "ADD",
  type: "bridge",
  kind: "native",
  nested: false,
};
const done = { network: "cluster", ms: 12.34567, fault: undefined, keep: true };

function read(calls: RecentCalls): RecentCallsDocument {
  return JSON.parse(calls.text());
}

test("keeps an ended call with the start, duration, kind and fault of each step", () => {
  const calls = new RecentCalls(new VirtualClock());
  const call = calls.begin(() => names);
  call.step({ ...bridge, type: "ipam-host-local", kind: "wasm", nested: true }, 0.5, { ok: true, stdout: "{}" });
  call.step(bridge, 0, { ok: false, fault: fault("PLUGIN_FAILED", 'no link, "password":"hunter2"') });
  call.end({ ...done, fault: fault("PLUGIN_FAILED", "no link") });
  const { kind, time, calls: kept } = read(calls);
  expect([kind, time]).toEqual(["RecentCalls", "2026-01-01T00:00:00.000Z"]);
  expect(kept).toMatchObject([
    {
      ...names,
      network: "cluster",
      ms: 12.346,
      running: false,
      failure: { fault: "PLUGIN_FAILED", remedy: expect.stringMatching(/./) },
      steps: [
        { type: "ipam-host-local", kind: "wasm", nested: true, ms: 0.5, failure: null },
        {
          type: "bridge",
          kind: "native",
          nested: false,
          failure: { fault: "PLUGIN_FAILED", msg: expect.stringMatching(/^no link/) },
        },
      ],
      moreSteps: 0,
    },
  ]);
  expect(JSON.stringify(kept)).not.toContain("hunter2");
});

test("shows a running call before ended ones, with the steps that have ended", () => {
  const calls = new RecentCalls(new VirtualClock());
  calls.begin(() => ({ ...names, request: "ended" })).end(done);
  const call = calls.begin(() => ({ ...names, request: "runs" }));
  call.step(bridge, 1, { ok: true, stdout: "" });
  const [first, second] = read(calls).calls;
  expect(first).toMatchObject({ request: "runs", running: true, failure: null, steps: [{ type: "bridge" }] });
  expect(second).toMatchObject({ request: "ended", running: false });
  call.end(done);
  expect(read(calls).calls.map(({ request, running }) => [request, running])).toEqual([
    ["runs", false],
    ["ended", false],
  ]);
});

test("forgets a call that is not worth keeping", () => {
  const calls = new RecentCalls(new VirtualClock());
  calls.begin(() => names).end({ ...done, keep: false });
  expect(read(calls).calls).toEqual([]);
});

test("keeps the latest calls within a bounded number of texts and units, and 64 steps of a call", () => {
  const calls = new RecentCalls(new VirtualClock());
  for (let number = 0; number < 3 * maxCalls; number++) calls.begin(() => ({ ...names, request: `r${number}` })).end(done);
  const kept = read(calls).calls;
  expect(kept).toHaveLength(maxCalls);
  expect(kept[0]?.request).toBe(`r${3 * maxCalls - 1}`);
  for (let number = 0; number < maxCalls; number++) {
    const call = calls.begin(() => names);
    const hostile = fault("PLUGIN_FAILED", "\u001b[2J\u202e" + "x".repeat(100_000));
    for (let step = 0; step < 100; step++) call.step({ ...bridge, type: "y".repeat(10_000) }, 1, { ok: false, fault: hostile });
    call.end({ ...done, fault: hostile });
  }
  const text = calls.text();
  expect(text.length).toBeLessThan(maxUnits + 1000);
  for (const hostile of ["\u001b", "\u202e", "\\u001b", "y".repeat(200)]) expect(text).not.toContain(hostile);
  expect(read(calls).calls[0]).toMatchObject({ moreSteps: 36 });
  expect(read(calls).calls[0]?.steps).toHaveLength(64);
});

test("a call costs less than a hundredth of the fastest ADD", () => {
  const calls = new RecentCalls(new VirtualClock());
  const one = (): void => {
    const call = calls.begin(() => names);
    for (let step = 0; step < 4; step++) call.step(bridge, 1, { ok: true, stdout: "" });
    call.end(done);
  };
  for (let warm = 0; warm < 2000; warm++) one();
  const started = cpuMs();
  for (let number = 0; number < 5000; number++) one();
  // An ADD takes at least 1 ms. Measured: some 10 µs; the bound allows for a busy machine.
  expect((cpuMs() - started) / 5000).toBeLessThan(0.1);
});
