// Networks of running pods follow the annotation, and clients may attach and detach networks.

import type { Feature } from "../feature.ts";

/** The feature. */
export const hotPlug: Feature = {
  name: "hot-plug",
  keys: ["hotPlug"],
  chartValues: [],
  errors: ["HOT_PLUG_REFUSED"],
  metrics: async () => (await import("./metrics.ts")).hotPlugMetrics,
  resident: async () => (await import("./resident.ts")).resident,
};
