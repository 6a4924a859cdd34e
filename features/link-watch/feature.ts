// The links of pods' further networks are watched, and attached again where the configuration says so.

import type { Feature } from "../feature.ts";

/** The feature. */
export const linkWatch: Feature = {
  name: "link-watch",
  keys: ["linkWatch"],
  chartValues: ["linkWatch"],
  errors: [],
  metrics: async () => (await import("./metrics.ts")).linkWatchMetrics,
  resident: async () => (await import("./resident.ts")).resident,
};
