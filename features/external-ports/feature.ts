// A pod's interfaces have ports in an outer fabric, such as Neutron, which plexus-controller makes by a provider.

import type { Feature } from "../feature.ts";
import { asksForPort } from "./rules/annotations.ts";

/** The feature. */
export const externalPorts: Feature = {
  name: "external-ports",
  keys: ["externalPorts"],
  chartValues: ["externalPorts"],
  errors: ["EXTERNAL_PORT_NOT_READY", "EXTERNAL_PORT_REFUSED"],
  plan: {
    completion: {
      key: "externalPorts",
      isNeeded: (attachments) => attachments.some(({ annotations }) => asksForPort(annotations)),
      // Loaded where a definition needs it: most pods have no external port.
      complete: async (planned) => (await import("./plan-ports.ts")).withExternalPorts(planned),
      refuse: async (attachment) => (await import("./plan-ports.ts")).refuseForRunningPod(attachment),
    },
  },
  controller: async () => (await import("./controller.ts")).controller,
  commands: async () => (await import("./ctl/commands.ts")).providerCommands,
  finalizers: async () => (await import("./finalizers.ts")).finalizers,
};
