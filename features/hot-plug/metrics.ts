// The daemon's metrics of hot-plug.

import type { MetricDefinition } from "../../host/telemetry/metrics/definitions.ts";

/** The metrics by name. */
export const hotPlugMetrics = {
  plexus_hot_plug_changes_total: {
    type: "counter",
    help: "Networks that were attached to or detached from running pods.",
    labels: { change: ["attach", "detach"] },
  },
  plexus_hot_plug_failures_total: {
    type: "counter",
    help: "Comparisons of a running pod with its annotation that left a failure.",
    labels: {},
  },
} as const satisfies Record<string, MetricDefinition>;
