import { execFileSync } from "node:child_process";
import { readFile } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { LoopDelay } from "./loop-delay.ts";

function hold(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("tells how late the loop was since it was last asked, also where a callback of the system's took long", async () => {
  const loop = new LoopDelay({ isBusy: () => false });
  loop.watch();
  await pause(50);
  await new Promise<void>((resolve) => {
    readFile(import.meta.filename, () => {
      hold(80);
      resolve();
    });
  });
  await pause(50);
  const { p50, max } = loop.take();
  expect(max).toBeGreaterThan(0.06);
  expect(p50).toBeLessThan(max / 2);
  expect(loop.take()).toEqual({ p50: 0, p99: 0, max: 0 });
});

test("goes on while a call is served, ends where there is none, and begins anew with the next one", async () => {
  let busy = true;
  const loop = new LoopDelay({ isBusy: () => busy, quietMs: 20 });
  const seen = async (): Promise<boolean> => {
    await pause(20);
    loop.take();
    hold(60);
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

// A process of its own: the tests' has other things that wake it.
const program = `
import { setTimeout } from "node:timers/promises";
import { LoopDelay } from ${JSON.stringify(new URL("./loop-delay.ts", import.meta.url).href)};
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

test("wakes nobody where there are no calls", () => {
  const args = ["--input-type=module", "-e", program];
  const told: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env: {} }));
  expect(told).toEqual({ watched: expect.any(Number), idle: expect.any(Number) });
  expect(Reflect.get(told as object, "watched")).toBeGreaterThan(10);
  expect(Reflect.get(told as object, "idle")).toBeLessThan(5);
});
