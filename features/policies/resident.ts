// Policies in the daemon. The part has no option: it works once a configuration has the key `policies`.

import type { ResidentFeature } from "../resident-part.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({
    statusName: "policies",
    sockets: [],
    make: async (init) => {
      const { FollowPods } = await import("../../host/node/running-pods/follow-pods.ts");
      const follow = new FollowPods(init, (await import("./follow-policies.ts")).followPolicies);
      return {
        get sentence() {
          if (!follow.isOn) return "off";
          return `on; ${follow.size} pods are worked on or wait; the policies of ${follow.failures} pods could not be applied`;
        },
        start: () => follow.start(),
        stop: (maxMs) => follow.stop(maxMs),
        agentConnected: () => void follow.resync(),
        noteCall: (configuration, environment) => {
          if (configuration.policies === undefined) return;
          void follow.noteConfiguration(configuration);
          if (environment.get("CNI_COMMAND") === "ADD") follow.noteAdded(environment.get("CNI_ARGS") ?? "");
        },
        podChanged: (namespace, name, pod) => follow.podChanged(namespace, name, pod),
      };
    },
  }),
};
