// Chain traces: one file for one call, with each step's input, output, changes and imports. The form of the file is in src/chain-trace.

import type { Feature } from "../feature.ts";

/** The feature. */
export const chainTrace: Feature = {
  name: "chain-trace",
  keys: ["chainTrace"],
  chartValues: [],
  errors: [],
  recorder: {
    key: "chainTrace",
    // Loaded late: nearly all calls have no chain trace.
    record: async (...call) => (await import("./record/record-configured.ts")).recordConfigured(...call),
  },
  resident: async () => (await import("./resident.ts")).resident,
  commands: async () => (await import("./ctl/commands.ts")).traceCommands,
};
