// The controller's metrics of external ports.

import type { MetricDefinition } from "../../host/telemetry/metrics/definitions.ts";

/** The metrics by name. */
export const portMetrics = {
  plexus_controller_external_ports: {
    type: "gauge",
    help: "ExternalPorts: Ready ones, those that the provider has not answered or has refused, by its reason, and deleted ones that are kept or released.",
    labels: { provider: "open", state: ["ready", "unanswered", "unavailable", "quota", "invalid", "refused", "deleted"] },
  },
  plexus_controller_ports_ahead: {
    type: "gauge",
    help: "Ports of a fabric that were made ahead and are free.",
    labels: { provider: "open", subnet: "open" },
  },
} as const satisfies Record<string, MetricDefinition>;

/** The type of these definitions. */
export type PortMetrics = typeof portMetrics;
