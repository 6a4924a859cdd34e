// Services on further networks in the daemon. The part has no option: it works once a configuration has the key `services`.

import type { ResidentFeature } from "../resident-part.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({
    statusName: "services",
    sockets: [],
    make: async (init) => {
      const { FollowPods } = await import("../../host/node/running-pods/follow-pods.ts");
      const follow = new FollowPods(init, (await import("./follow-services.ts")).followServices);
      return {
        get sentence() {
          if (!follow.isOn) return "off";
          return `on; ${follow.size} pods are worked on or wait; the Services of ${follow.failures} pods could not be written`;
        },
        start: () => follow.start(),
        stop: (maxMs) => follow.stop(maxMs),
        agentConnected: () => void follow.resync(),
        noteCall: (configuration, environment) => {
          if (!configuration.services) return;
          void follow.noteConfiguration(configuration);
          if (environment.get("CNI_COMMAND") === "ADD") follow.noteAdded(environment.get("CNI_ARGS") ?? "");
        },
        podChanged: (namespace, name, pod) => follow.podChanged(namespace, name, pod),
      };
    },
  }),
};
