// The description of an optional feature. A feature is a folder beside this file: its rules (pure), its part on the node, in the controller and in
// plexusctl, and its tests. The description is all that programs know of it; it loads the parts when they are needed.

import type { HostConfiguration } from "../src/configuration/host-configuration.ts";
import type { FaultKind } from "../src/fault/catalogue.ts";
import type { ControllerFeature } from "../host/controller/controller-feature.ts";
import type { CallRecorder } from "../host/engine/events/call-events.ts";
import type { PlanFeature } from "../host/engine/planned/plan-feature.ts";
import type { PoolFeature } from "../host/capabilities/leases/pool-source.ts";
import type { Command } from "../host/node/command-line/command.ts";
import type { KernelProbe } from "../host/node/doctor/kernel-probe.ts";
import type { ResidentFeature } from "./resident-part.ts";
import type { MetricDefinitions } from "../host/telemetry/metrics/definitions.ts";
import type { FinalizerKind } from "../host/node/finalizers/finalizer-kinds.ts";

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
  /** The part in the plan of an ADD, and in STATUS. */
  readonly plan?: PlanFeature;
  /** Records calls as their configuration says. */
  readonly recorder?: CallRecorder;
  /** The pools of the cluster; at most one feature serves them. */
  readonly pools?: PoolFeature;
  /** The metrics of the daemon. */
  readonly metrics?: () => Promise<MetricDefinitions>;
  /** The part that works in the daemon beside the calls. */
  readonly resident?: () => Promise<ResidentFeature>;
  /** The part in plexus-controller. */
  readonly controller?: () => Promise<ControllerFeature>;
  /** The commands of plexusctl. */
  readonly commands?: () => Promise<readonly Command[]>;
  /** The parts of the kernel that the feature needs with a configuration, for `plexusctl doctor`. */
  readonly kernelProbe?: (configuration: HostConfiguration) => Promise<KernelProbe | undefined>;
  /** The kinds of objects that the controller's part holds with a finalizer. */
  readonly finalizers?: () => Promise<readonly FinalizerKind[]>;
}
