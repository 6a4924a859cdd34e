// The optional features of this build. Taking a feature out is: delete its folder, and its line here.

import type { PlanFeature } from "../host/engine/plan/plan-feature.ts";
import type { Feature } from "./feature.ts";
import { resourceClaims } from "./resource-claims/feature.ts";

/** All features. */
export const features: readonly Feature[] = [resourceClaims];

/** Their parts in the plan of an ADD. */
export const planFeatures: readonly PlanFeature[] = features.flatMap(({ plan }) => plan ?? []);
