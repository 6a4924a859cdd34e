// What the daemon's own process takes, and how late its event loop is.

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "../metrics/metrics.ts";

const nanosecond = 1e-9;
/** Milliseconds between two looks at the event loop. */
const resolution = 10;

/** Sets these metrics at each scrape. */
export function collectProcess(metrics: Metrics): void {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  metrics.set("process_start_time_seconds", {}, performance.timeOrigin / 1000);
  metrics.onScrape(() => {
    const { user, system } = process.cpuUsage();
    metrics.set("process_cpu_seconds_total", {}, (user + system) / 1e6);
    metrics.set("process_resident_memory_bytes", {}, process.memoryUsage.rss());
    metrics.set("plexus_event_loop_delay_seconds", { quantile: "0.5" }, late(delay.percentile(50)));
    metrics.set("plexus_event_loop_delay_seconds", { quantile: "0.99" }, late(delay.percentile(99)));
    metrics.set("plexus_event_loop_delay_seconds", { quantile: "1" }, late(delay.max));
    delay.reset();
  });
}

/** Seconds of a delay in nanoseconds, which has the pause between two looks in it. */
function late(ns: number): number {
  return Math.max(0, ns * nanosecond - resolution / 1000);
}
