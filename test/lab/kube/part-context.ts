// The means of a part of plexus-controller, for tests that run a part without the controller around it.

import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { WorkSpans } from "../../../host/controller/work/work-spans.ts";
import { controllerMetricDefinitions } from "../../../host/telemetry/metrics/controller-definitions.ts";
import { MetricsOf } from "../../../host/telemetry/metrics/metrics.ts";
import { systemClock } from "../../../host/system/clock.ts";

/** A context with these objects. Log lines and Events are dropped unless `more` says otherwise. */
export function partContext(objects: ApiObjects, more: Partial<PartContext> = {}): PartContext {
  return {
    objects,
    metrics: new MetricsOf(controllerMetricDefinitions),
    spans: new WorkSpans(undefined, systemClock),
    clock: systemClock,
    lease: { namespace: "default", name: "plexus-controller" },
    log: () => undefined,
    event: () => undefined,
    ...more,
  };
}
