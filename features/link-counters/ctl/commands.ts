// The command about traffic.

import type { Command } from "../../../host/node/command-line/command.ts";
import { statusSocketOption } from "../../../host/node/command-line/common-options.ts";

/** The commands. */
export const counterCommands: readonly Command[] = [
  {
    name: "top",
    summary: "shows the traffic of pods' further networks by pod and interface, the busiest first",
    synopsis: "[POD]",
    count: [0, 1],
    details:
      "POD is NAMESPACE/NAME. The daemon reads the counters every 15 s while it is asked; rates are those between its last two readings. Needs the key linkCounters.",
    options: [statusSocketOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "the pod and the interface of each link",
    attention: "no daemon answers, or it reads no counters",
    run: async (line) => (await import("./top.ts")).topCommand(line),
  },
];
