// The daemon's metrics of watched links.

import type { MetricDefinition } from "../../host/telemetry/metrics/definitions.ts";
import { linkFaults } from "./rules/judge-link.ts";

/** The metrics by name. */
export const linkWatchMetrics = {
  plexus_links_watched: { type: "gauge", help: "Links of pods' further networks that are watched.", labels: {} },
  plexus_links_lost: {
    type: "gauge",
    help: "Watched links that are not as their attachment left them, by what is wrong.",
    labels: { fault: linkFaults },
  },
  plexus_link_losses_total: {
    type: "counter",
    help: "Watched links that were found lost or changed, by what was wrong.",
    labels: { fault: linkFaults },
  },
  plexus_link_repairs_total: {
    type: "counter",
    help: "Tries to attach a lost link again.",
    labels: { outcome: ["repaired", "failed"] },
  },
} as const satisfies Record<string, MetricDefinition>;
