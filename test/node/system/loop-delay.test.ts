import { execFileSync } from "node:child_process";
import { readFile } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { LoopDelay } from "../../../host/telemetry/loop-delay.ts";

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("measures the delay since the previous take, also if an I/O callback took long", async () => {
  const loop = new LoopDelay({ isBusy: () => false });
  loop.watch();
  await pause(50);
  await new Promise<void>((resolve) => {
    readFile(import.meta.filename, () => {
      block(80);
      resolve();
    });
  });
  await pause(50);
  const { p50, max } = loop.take();
  expect(max).toBeGreaterThan(0.06);
  expect(p50).toBeLessThan(max / 2);
  expect(loop.take()).toEqual({ p50: 0, p99: 0, max: 0 });
});

test("measures while a call is served, stops without calls, and starts again with the next call", async () => {
  let busy = true;
  const loop = new LoopDelay({ isBusy: () => busy, quietMs: 20 });
  const seen = async (): Promise<boolean> => {
    await pause(20);
    loop.take();
    block(60);
    await pause(20);
    return loop.take().max > 0.04;
  };
  loop.watch();
  await pause(100);
  expect(await seen()).toBe(true);
  busy = false;
  await pause(100);
  expect(await seen()).toBe(false);
  busy = true;
  loop.watch();
  expect(await seen()).toBe(true);
  busy = false;
});

// A separate process, because other things wake the test's process.
const program = `
import { setTimeout } from "node:timers/promises";
import { LoopDelay } from ${JSON.stringify(new URL("../../../host/telemetry/loop-delay.ts", import.meta.url).href)};
const turns = () => performance.nodeTiming.uvMetricsInfo.loopCount;
const loop = new LoopDelay({ isBusy: () => false, quietMs: 300 });
loop.watch();
const begun = turns();
await setTimeout(300);
const watched = turns() - begun;
await setTimeout(200);
const quiet = turns();
await setTimeout(500);
console.log(JSON.stringify({ watched, idle: turns() - quiet }));
`;

test("does not wake the process without calls", () => {
  const args = ["--input-type=module", "-e", program];
  const turns: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env: {} }));
  expect(turns).toEqual({ watched: expect.any(Number), idle: expect.any(Number) });
  expect(Reflect.get(turns as object, "watched")).toBeGreaterThan(10);
  expect(Reflect.get(turns as object, "idle")).toBeLessThan(5);
});
