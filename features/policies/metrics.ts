// The daemon's metrics of policies.

import type { MetricDefinition } from "../../host/telemetry/metrics/definitions.ts";

/** The metrics by name. */
export const policyMetrics = {
  plexus_policy_tables: {
    type: "gauge",
    help: "Pods of this node that have a table of policies, of their own or at the node's ends.",
    labels: {},
  },
  plexus_policy_failed_pods: { type: "gauge", help: "Pods of this node whose policies could not be applied.", labels: {} },
  plexus_policy_node_only_pods: {
    type: "gauge",
    help: "Pods of this node whose policies hold at the node's ends, and whose own table could not be written.",
    labels: {},
  },
  plexus_policy_applies_total: {
    type: "counter",
    help: "Looks at a running pod's policies, each with the pod's tables brought up to date. ADDs are not counted.",
    labels: { outcome: ["applied", "failed"] },
  },
  plexus_policy_reconcile_age_seconds: {
    type: "gauge",
    help: "Time since the policies of all pods of this node were last applied without a failure. No series: policies are off, or it has not happened yet.",
    labels: {},
  },
} as const satisfies Record<string, MetricDefinition>;
