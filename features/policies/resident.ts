// Policies in the daemon. The part has no option: it works once a configuration has the key `policies`.

import type { ResidentFeature } from "../resident-part.ts";
import { policyMetrics } from "./metrics.ts";
import { policyTablesPath } from "./rules/table-report.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({
    statusName: "policies",
    sockets: [],
    make: async (init) => {
      const { FollowPods } = await import("../../host/node/running-pods/follow-pods.ts");
      const { forgetTable } = await import("./node/guarded-pods.ts");
      const { reportedTables, tableCount } = await import("./node/report-tables.ts");
      const { policyJudge } = await import("./node/judge-pod.ts");
      const { tablesPage } = await import("../tables-page.ts");
      const { LeftEnds } = await import("./node/left-ends.ts");
      const { followPolicies } = await import("./follow-policies.ts");
      const leftEnds = new LeftEnds(init);
      const follow = new FollowPods(init, {
        ...followPolicies,
        onRound: async () => {
          followPolicies.onRound?.();
          await leftEnds.list().catch(() => undefined);
        },
        onContainers: (containers) => {
          followPolicies.onContainers?.(containers);
          // The agent may go meanwhile: the next round lists anew.
          void leftEnds.removeOthers(containers).catch(() => undefined);
        },
      });
      const metrics = init.metrics.with(policyMetrics);
      metrics.onScrape(async () => {
        if (!follow.isOn) return;
        const { totals, failures, shortfalls, ageSeconds } = follow;
        metrics.set("plexus_policy_tables", {}, tableCount(await follow.containers()));
        metrics.set("plexus_policy_failed_pods", {}, failures);
        metrics.set("plexus_policy_node_only_pods", {}, shortfalls);
        metrics.set("plexus_policy_applies_total", { outcome: "applied" }, totals.applied);
        metrics.set("plexus_policy_applies_total", { outcome: "failed" }, totals.failed);
        if (ageSeconds !== undefined) metrics.set("plexus_policy_reconcile_age_seconds", {}, ageSeconds);
      });
      return {
        get sentence() {
          if (!follow.isOn) return "off";
          const { size, failures, shortfalls } = follow;
          const atNode =
            shortfalls === 0 ? "" : `; those of ${shortfalls} pods hold at the node's ends, and not in the pods' own tables`;
          return `on; ${size} pods are worked on or wait; the policies of ${failures} pods could not be applied${atNode}`;
        },
        start: () => follow.start(),
        stop: (maxMs) => follow.stop(maxMs),
        agentConnected: () => void follow.resync(),
        key: "policies",
        noteCall: (configuration, environment) => {
          if (environment.get("CNI_COMMAND") === "DEL") forgetTable(environment.get("CNI_CONTAINERID") ?? "");
          if (configuration.policies === undefined) return;
          void follow.noteConfiguration(configuration);
          if (environment.get("CNI_COMMAND") === "ADD") follow.noteAdded(environment.get("CNI_ARGS") ?? "");
        },
        judge: policyJudge(follow),
        pages: { [policyTablesPath]: tablesPage(follow, reportedTables) },
        podChanged: (namespace, name, pod) => follow.podChanged(namespace, name, pod),
      };
    },
  }),
};
