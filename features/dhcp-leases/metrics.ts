// The daemon's metrics of DHCP leases.

import type { MetricDefinition } from "../../host/telemetry/metrics/definitions.ts";

/** The metrics by name. */
export const dhcpMetrics = {
  plexus_dhcp_renewals_total: {
    type: "counter",
    help: "Tries to renew a DHCP lease: renewed; failed, to be tried again; ended, with the interface brought down.",
    labels: { outcome: ["renewed", "failed", "ended"] },
  },
} as const satisfies Record<string, MetricDefinition>;
