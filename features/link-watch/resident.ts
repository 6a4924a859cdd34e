// The watch over links in the daemon. The part has no option: it works once a configuration has the key `linkWatch`.

import type { ResidentFeature, ResidentContext, ResidentPart } from "../resident-part.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({ statusName: "linkWatch", sockets: [], make: linkWatchPart }),
};

async function linkWatchPart(context: ResidentContext): Promise<ResidentPart> {
  const { LinkWatch } = await import("./follow/link-watch.ts");
  const watch = new LinkWatch(context);
  return {
    get sentence() {
      return watch.sentence;
    },
    start: () => watch.start(),
    stop: (maxMs) => watch.stop(maxMs),
    agentConnected: () => watch.agentConnected(),
    key: "linkWatch",
    noteCall: (configuration, environment) => {
      void watch.noteConfiguration(configuration);
      if (configuration.linkWatch !== undefined && ["ADD", "DEL"].includes(environment.get("CNI_COMMAND") ?? ""))
        watch.noteChanged();
    },
  };
}
