// The description of an optional feature. A feature is a folder beside this file: its rules (pure), its part on the node, in the controller and in
// plexusctl, and its tests. The description is all that programs know of it; it loads the parts when they are needed.

import type { FaultKind } from "../src/fault/catalogue.ts";
import type { PlanFeature } from "../host/engine/plan/plan-feature.ts";

/** One feature, with the parts that it has. */
export interface Feature {
  /** The name of the feature's folder. */
  readonly name: string;
  /** The configuration keys that only this feature reads, with dots between nested keys. */
  readonly keys: readonly string[];
  /** The top-level values of the chart that only this feature needs. */
  readonly chartValues: readonly string[];
  /** The errors that only this feature makes. */
  readonly errors: readonly FaultKind[];
  /** The part in the plan of an ADD. */
  readonly plan?: PlanFeature;
}
