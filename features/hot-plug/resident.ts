// Hot-plug in the daemon.

import { networksAnnotation } from "../../src/npwg/selection.ts";
import type { ResidentInit, ResidentPart } from "../resident-part.ts";
import { HotPlug } from "./follow/hot-plug.ts";
import { hotPlugMetrics } from "./metrics.ts";

/** Makes the part. */
export function hotPlugPart({ metrics: ofDaemon, watch, ...init }: ResidentInit): ResidentPart {
  const metrics = ofDaemon.with(hotPlugMetrics);
  const hotPlug = new HotPlug({
    ...init,
    onFollowed: ({ attached, detached, failed: hasFailed }) => {
      metrics.add("plexus_hot_plug_changes_total", { change: "attach" }, attached);
      metrics.add("plexus_hot_plug_changes_total", { change: "detach" }, detached);
      if (hasFailed) metrics.add("plexus_hot_plug_failures_total", {});
    },
    watch: (configuration) => watch(configuration, () => void hotPlug.resync()),
  });
  return {
    get sentence() {
      return hotPlug.sentence;
    },
    start: () => hotPlug.start(),
    stop: (maxMs) => hotPlug.stop(maxMs),
    agentConnected: () => void hotPlug.resync(),
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
