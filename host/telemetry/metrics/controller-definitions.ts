// All metrics of plexus-controller. docs/reference/metrics.md is generated from this file, too.

import type { MetricDefinition } from "./definitions.ts";

/** Bucket bounds in seconds: from a reconciliation without a request to one that waits for a slow API server. */
const seconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics by name. `part` is a part of the controller, such as `podnetworks`. */
export const controllerMetricDefinitions = {
  plexus_controller_build_info: { type: "gauge", help: "Always 1; the label has the version.", labels: { version: "open" } },
  plexus_controller_leader: {
    type: "gauge",
    help: "Whether this replica leads (1) or waits for the lease (0). The sum over all replicas is 1.",
    labels: {},
  },
  plexus_controller_work_total: {
    type: "counter",
    help: "Reconciliations of an object.",
    labels: { part: "open", outcome: ["done", "again", "conflict", "failed"] },
  },
  plexus_controller_work_duration_seconds: {
    type: "histogram",
    help: "Time of a reconciliation.",
    labels: { part: "open" },
    buckets: seconds,
  },
  plexus_controller_queue_objects: {
    type: "gauge",
    help: "Objects that wait for a reconciliation, are reconciled now, or are due later.",
    labels: { part: "open" },
  },
  plexus_controller_watch_live: {
    type: "gauge",
    help: "Whether a watched collection is current (1) or its watch is being opened (0).",
    labels: { collection: "open" },
  },
  plexus_controller_watch_objects: {
    type: "gauge",
    help: "Objects of a watched collection in memory.",
    labels: { collection: "open" },
  },
  plexus_events_total: {
    type: "counter",
    help: "Kubernetes Events of the controller that were sent, refused by the API server, or dropped.",
    labels: { outcome: ["sent", "refused", "dropped"] },
  },
  plexus_events_waiting: { type: "gauge", help: "Kubernetes Events of the controller that wait for the API server.", labels: {} },
  plexus_spans_total: {
    type: "counter",
    help: "Spans that were sent to the collector, or dropped.",
    labels: { outcome: ["sent", "dropped"] },
  },
  plexus_log_lines_dropped_total: {
    type: "counter",
    help: "Log lines that were dropped, because the reader of stderr was too slow.",
    labels: {},
  },
  plexus_scrape_problems_total: { type: "counter", help: "Values that a scrape could not read.", labels: {} },
  process_resident_memory_bytes: { type: "gauge", help: "Resident memory of the process.", labels: {} },
  process_cpu_seconds_total: { type: "counter", help: "Processor time of the process, user and system.", labels: {} },
} as const satisfies Record<string, MetricDefinition>;

/** The type of these definitions. */
export type ControllerMetricDefinitions = typeof controllerMetricDefinitions;
