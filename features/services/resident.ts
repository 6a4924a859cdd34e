// Services on further networks in the daemon. The part has no option: it works once a configuration has the key `services`.

import type { ResidentFeature } from "../resident-part.ts";
import { serviceMetrics } from "./metrics.ts";
import { serviceTablesPath } from "./rules/table-report.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({
    statusName: "services",
    sockets: [],
    make: async (init) => {
      const { FollowPods } = await import("../../host/node/running-pods/follow-pods.ts");
      const { forgetTable } = await import("./node/served-pods.ts");
      const { reportedTables, tableCount } = await import("./node/report-tables.ts");
      const { endpointFinder } = await import("./node/find-endpoints.ts");
      const { tablesPage } = await import("../tables-page.ts");
      const follow = new FollowPods(init, (await import("./follow-services.ts")).followServices);
      const metrics = init.metrics.with(serviceMetrics);
      metrics.onScrape(async () => {
        if (!follow.isOn) return;
        const { totals, failures, ageSeconds } = follow;
        metrics.set("plexus_service_tables", {}, tableCount(await follow.containers()));
        metrics.set("plexus_service_failed_pods", {}, failures);
        metrics.set("plexus_service_applies_total", { outcome: "applied" }, totals.applied);
        metrics.set("plexus_service_applies_total", { outcome: "failed" }, totals.failed);
        if (ageSeconds !== undefined) metrics.set("plexus_service_reconcile_age_seconds", {}, ageSeconds);
      });
      return {
        get sentence() {
          if (!follow.isOn) return "off";
          return `on; ${follow.size} pods are worked on or wait; the Services of ${follow.failures} pods could not be written`;
        },
        start: () => follow.start(),
        stop: (maxMs) => follow.stop(maxMs),
        agentConnected: () => void follow.resync(),
        key: "services",
        noteCall: (configuration, environment) => {
          if (environment.get("CNI_COMMAND") === "DEL") forgetTable(environment.get("CNI_CONTAINERID") ?? "");
          if (!configuration.services) return;
          void follow.noteConfiguration(configuration);
          if (environment.get("CNI_COMMAND") === "ADD") follow.noteAdded(environment.get("CNI_ARGS") ?? "");
        },
        endpoints: endpointFinder(follow),
        pages: { [serviceTablesPath]: tablesPage(follow, reportedTables) },
        podChanged: (namespace, name, pod) => follow.podChanged(namespace, name, pod),
      };
    },
  }),
};
