// The daemon's metrics of traffic.

import type { MetricDefinition } from "../../host/telemetry/metrics/definitions.ts";
import { directions } from "../../src/net/link-traffic.ts";

const labels = { network: "open", direction: directions } as const;

/** The metrics by name. */
export const linkCounterMetrics = {
  plexus_network_bytes_total: {
    type: "counter",
    help: "Bytes that pods have received from a network or sent to it, since the daemon reads them.",
    labels,
  },
  plexus_network_packets_total: {
    type: "counter",
    help: "Packets that pods have received from a network or sent to it.",
    labels,
  },
  plexus_network_errors_total: {
    type: "counter",
    help: "Packets that pods' links to a network received or sent with errors.",
    labels,
  },
  plexus_network_drops_total: { type: "counter", help: "Packets that pods' links to a network dropped.", labels },
} as const satisfies Record<string, MetricDefinition>;
