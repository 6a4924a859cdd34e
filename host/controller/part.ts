// A part of the controller: the reconciliation of some kinds of objects. The leader runs all parts.

import type { ApiObjects } from "../cluster/kube/api-objects.ts";
import type { DaemonLogLevel } from "../telemetry/log.ts";
import type { MetricsOf } from "../telemetry/metrics/metrics.ts";
import type { ControllerMetricDefinitions } from "../telemetry/metrics/controller-definitions.ts";
import type { EventContent, InvolvedObject } from "../../src/kube/event.ts";
import type { Clock } from "../system/clock.ts";
import type { WorkSpans } from "./work/work-spans.ts";

/** The objects of the controller that each part works with. */
export interface PartContext {
  readonly objects: ApiObjects;
  readonly metrics: MetricsOf<ControllerMetricDefinitions>;
  readonly spans: WorkSpans;
  readonly clock: Clock;
  readonly log: (level: DaemonLogLevel, text: string) => void;
  /** The controller's Lease, for Events about the controller itself. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Queues a Kubernetes Event of now; a lost one is a line in the log. */
  readonly event: (target: InvolvedObject, content: EventContent) => void;
}

/** One part, for one term as the leader. */
export interface ControllerPart {
  readonly name: string;
  /** Runs until `signal` is aborted; resolves when nothing is under way. A rejection ends the program. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Makes a part at the beginning of a term. */
export type MakePart = (context: PartContext) => ControllerPart;
