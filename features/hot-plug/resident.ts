// Hot-plug in the daemon. The part has no option: it works once a configuration has the key `hotPlug`.

import { networksAnnotation } from "../../src/npwg/selection.ts";
import type { ResidentFeature, ResidentContext, ResidentPart } from "../resident-part.ts";
import { hotPlugMetrics } from "./metrics.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({ statusName: "hotPlug", sockets: [], make: hotPlugPart }),
};

/** Makes the part. */
async function hotPlugPart(context: ResidentContext): Promise<ResidentPart> {
  const { HotPlug } = await import("./follow/hot-plug.ts");
  const metrics = context.metrics.with(hotPlugMetrics);
  const hotPlug = new HotPlug(context, ({ attached, detached, failed: hasFailed }) => {
    metrics.add("plexus_hot_plug_changes_total", { change: "attach" }, attached);
    metrics.add("plexus_hot_plug_changes_total", { change: "detach" }, detached);
    if (hasFailed) metrics.add("plexus_hot_plug_failures_total", {});
  });
  return {
    get sentence() {
      return hotPlug.sentence;
    },
    start: () => hotPlug.start(),
    stop: (maxMs) => hotPlug.stop(maxMs),
    agentConnected: () => void hotPlug.resync(),
    key: "hotPlug",
    noteCall: (configuration, environment) => {
      if (!configuration.hotPlug) return;
      void hotPlug.noteConfiguration(configuration);
      if (environment.get("CNI_COMMAND") === "ADD") hotPlug.noteAdded(environment.get("CNI_ARGS") ?? "");
    },
    podChanged: (namespace, name, pod) =>
      hotPlug.podChanged(namespace, name, pod?.annotations.get(networksAnnotation), pod !== undefined),
    changes: hotPlug,
  };
}
