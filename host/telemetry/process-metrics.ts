// Metrics of the daemon's own process: processor time, memory, and delay of the event loop.

import type { Metrics } from "./metrics/metrics.ts";
import type { LoopDelay } from "./loop-delay.ts";

/** Sets these metrics at each scrape. */
export function collectProcess(metrics: Metrics, loop: LoopDelay, since: Date): void {
  metrics.set("process_start_time_seconds", {}, since.getTime() / 1000);
  metrics.onScrape(() => {
    const { user, system } = process.cpuUsage();
    metrics.set("process_cpu_seconds_total", {}, (user + system) / 1e6);
    metrics.set("process_resident_memory_bytes", {}, process.memoryUsage.rss());
    const { p50, p99, max } = loop.take();
    metrics.set("plexus_event_loop_delay_seconds", { quantile: "0.5" }, p50);
    metrics.set("plexus_event_loop_delay_seconds", { quantile: "0.99" }, p99);
    metrics.set("plexus_event_loop_delay_seconds", { quantile: "1" }, max);
  });
}
