// Leases of DHCP servers are renewed for the life of their attachments.

import type { Feature } from "../feature.ts";

/** The feature. */
export const dhcpLeases: Feature = {
  name: "dhcp-leases",
  keys: [],
  chartValues: [],
  errors: [],
  metrics: async () => (await import("./metrics.ts")).dhcpMetrics,
  resident: async () => (await import("./resident.ts")).resident,
};
