// The daemon's metrics of Services on further networks.

import type { MetricDefinition } from "../../host/telemetry/metrics/definitions.ts";

/** The metrics by name. */
export const serviceMetrics = {
  plexus_service_tables: { type: "gauge", help: "Pods of this node that have a table of Services.", labels: {} },
  plexus_service_failed_pods: { type: "gauge", help: "Pods of this node whose Services could not be written.", labels: {} },
  plexus_service_applies_total: {
    type: "counter",
    help: "Looks at a running pod's Services, each with the pod's table brought up to date. ADDs are not counted.",
    labels: { outcome: ["applied", "failed"] },
  },
  plexus_service_reconcile_age_seconds: {
    type: "gauge",
    help: "Time since the Services of all pods of this node were last written without a failure. No series: Services are off, or it has not happened yet.",
    labels: {},
  },
} as const satisfies Record<string, MetricDefinition>;
