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
      const { FollowPolicies } = await import("./follow/follow-policies.ts");
      const follow = new FollowPolicies(init);
      return {
        get sentence() {
          return follow.sentence;
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
