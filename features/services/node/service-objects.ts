// The ways to slices of Services: one call's requests, and a daemon's copy.

import type { ObjectSource } from "../../../host/cluster/object-source.ts";
import { serviceSource, type ServiceSource } from "./service-source.ts";

/** The ways. */
export const serviceObjects: ObjectSource<ServiceSource> = {
  read: serviceSource,
  // A one-shot engine watches nothing.
  watch: async (access, count) => new (await import("../watched-services.ts")).ServiceInformer(access, count),
};
