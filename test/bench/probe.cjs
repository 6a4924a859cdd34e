// Loaded into plexusd by the benchmark (`node --require`): on SIGUSR2 it writes the delays of the event loop since the last time, and what
// V8 holds, to the file that PLEXUS_BENCH_PROBE names.
"use strict";

const { renameSync, writeFileSync } = require("node:fs");
const { monitorEventLoopDelay } = require("node:perf_hooks");

const resolution = 5;
const delays = monitorEventLoopDelay({ resolution });
delays.enable();
const file = process.env.PLEXUS_BENCH_PROBE;

process.on("SIGUSR2", () => {
  // The histogram holds the time between two ticks of a timer, so its own interval is in it.
  const delayMs = (quantile) => Math.max(0, delays.percentile(quantile) / 1e6 - resolution);
  const told = { p50: delayMs(50), p99: delayMs(99), max: delayMs(100), memory: process.memoryUsage() };
  delays.reset();
  writeFileSync(`${file}.new`, JSON.stringify(told));
  renameSync(`${file}.new`, file);
});
