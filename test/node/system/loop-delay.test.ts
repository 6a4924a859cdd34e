import { execFileSync } from "node:child_process";
import { readFile } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../host/system/clock.ts";
import { LoopDelay } from "../../../host/telemetry/loop-delay.ts";

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("measures the delay by an I/O callback that took long", async () => {
  const loop = new LoopDelay(() => true, systemClock.now);
  loop.watch();
  await new Promise<void>((resolve) => {
    readFile(import.meta.filename, () => {
      block(80);
      resolve();
    });
  });
  await expect.poll(() => loop.take().max).toBeGreaterThan(0.06);
});

/** A measurement with calls while `busy()` is true; `turn` lets the measurement's timer come this late. */
function measured(busy: () => boolean, quietMs?: number) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  let clock = 0;
  const loop = new LoopDelay(busy, () => clock, quietMs);
  const turn = (lateMs: number): void => {
    clock += 10 + lateMs;
    vi.advanceTimersByTime(10);
  };
  return { loop, turn };
}

describe("with a scripted clock", () => {
  afterEach(() => void vi.useRealTimers());

  test("answers the quantiles since the previous take", () => {
    const { loop, turn } = measured(() => false);
    loop.watch();
    for (let count = 0; count < 9; count += 1) turn(0);
    turn(80);
    const { p50, max } = loop.take();
    expect([p50, max]).toEqual([expect.closeTo(0, 5), expect.closeTo(0.08, 3)]);
    expect(loop.take()).toEqual({ p50: 0, p99: 0, max: 0 });
  });

  test("measures while a call is served, stops without calls, and starts again with the next call", () => {
    let busy = true;
    const { loop, turn } = measured(() => busy, 20);
    const seen = (): boolean => {
      loop.take();
      turn(60);
      return loop.take().max > 0.04;
    };
    loop.watch();
    for (let count = 0; count < 10; count += 1) turn(0);
    expect(seen()).toBe(true);
    busy = false;
    turn(0);
    expect(seen()).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
    busy = true;
    loop.watch();
    expect(seen()).toBe(true);
  });
});

// A separate process, because other things wake the test's process.
const program = `
import { setTimeout } from "node:timers/promises";
import { LoopDelay } from ${JSON.stringify(new URL("../../../host/telemetry/loop-delay.ts", import.meta.url).href)};
const turns = () => performance.nodeTiming.uvMetricsInfo.loopCount;
let isBusy = true;
const loop = new LoopDelay(() => isBusy, () => performance.now(), 20);
loop.watch();
// Each wait costs a few turns of its own. A busy machine makes fewer turns in a wait.
const begun = turns();
let waits = 0;
while (turns() - begun < 10 + 4 * waits) {
  await setTimeout(300);
  waits++;
}
isBusy = false;
await setTimeout(200);
const quiet = turns();
await setTimeout(500);
console.log(turns() - quiet);
`;

test("wakes the process while calls are served only", () => {
  const args = ["--input-type=module", "-e", program];
  const idleTurns = Number(execFileSync(process.execPath, args, { encoding: "utf8", env: {}, timeout: 120_000 }));
  expect(idleTurns).toBeLessThan(5);
});
