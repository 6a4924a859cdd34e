// The ways to policies and slices: one call's requests, and a daemon's copy.

import type { ObjectSource } from "../../../host/cluster/object-source.ts";
import { policySource, type PolicySource } from "./policy-source.ts";

/** The ways. */
export const policyObjects: ObjectSource<PolicySource> = {
  read: policySource,
  // A one-shot engine watches nothing.
  watch: async (access, count) => new (await import("../watched-policies.ts")).PolicyInformers(access, count),
};
