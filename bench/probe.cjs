// The benchmark loads this probe into plexusd (`node --require`). On SIGUSR2 the probe writes the event loop's delays since the
// last SIGUSR2, and V8's memory usage, to the file that PLEXUS_BENCH_PROBE names.
"use strict";

const { renameSync, writeFileSync } = require("node:fs");
const { monitorEventLoopDelay } = require("node:perf_hooks");

const resolution = 5;
const delays = monitorEventLoopDelay({ resolution });
delays.enable();
const file = process.env.PLEXUS_BENCH_PROBE;

process.on("SIGUSR2", () => {
  // The histogram measures the time between two ticks of a timer, which includes the timer's interval.
  const delayMs = (quantile) => Math.max(0, delays.percentile(quantile) / 1e6 - resolution);
  const report = { p50: delayMs(50), p99: delayMs(99), max: delayMs(100), memory: process.memoryUsage() };
  delays.reset();
  writeFileSync(`${file}.new`, JSON.stringify(report));
  renameSync(`${file}.new`, file);
});
