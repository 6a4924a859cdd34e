// Services on further networks: names and cluster addresses of pods on their networks.

import type { Feature } from "../feature.ts";

/** The feature. */
export const services: Feature = {
  name: "services",
  keys: [],
  chartValues: ["services"],
  errors: [],
  controller: async () => (await import("./controller.ts")).controller,
};
