// Commands about chain traces.

import type { CommandSpec, OptionSpec } from "../../../src/command-line/command-spec.ts";
import { recordingBounds } from "../rules/recording-request.ts";
import type { Command } from "../../../host/node/command-line/command.ts";
import { statusSocketOption } from "../../../host/node/command-line/common-options.ts";

const directoryOption: OptionSpec = {
  name: "directory",
  value: "DIRECTORY",
  about: "the directory of the traces",
  usual: "/var/lib/cni/plexus/traces",
  completes: "directory",
};
const forms = ["table", "wide", "json", "yaml", "name"] as const;
const unreadable = "the file is missing or no trace";

const specs: readonly CommandSpec[] = [
  {
    name: "trace record",
    summary: "makes the daemon write a chain trace of the next calls",
    details: `Each trace is one file in traces of the daemon's state directory, with the secrets taken out. The recording ends with the first bound that is reached. Nodes without a daemon record by the configuration's chainTrace.`,
    options: [
      {
        name: "next",
        value: "N",
        about: `the number of traces, 1 to ${recordingBounds.mostNext}`,
        usual: String(recordingBounds.next),
      },
      {
        name: "for",
        value: "SECONDS",
        about: `the longest duration, 1 to ${recordingBounds.mostSeconds}`,
        usual: String(recordingBounds.seconds),
      },
      { name: "pod", value: "NAMESPACE/NAME", about: "only calls for these pods; * is a wildcard" },
      { name: "failed", about: "only calls that fail" },
      { name: "stop", about: "ends the recording" },
      { name: "show", about: "shows the recording, and what it has written" },
      statusSocketOption,
    ],
    forms,
    names: "each written trace",
    attention: "no daemon answers, or it refused the request",
  },
  {
    name: "trace list",
    summary: "lists the chain traces on this node, the newest first",
    options: [directoryOption],
    forms,
    names: "each file",
    attention: "the directory can't be read",
  },
  {
    name: "trace show",
    summary: "shows a chain trace: each step, what it changed, and its imports",
    synopsis: "[FILE]",
    count: [0, 1],
    completes: "file",
    details: "Without FILE, the newest trace of the directory. -o wide abbreviates nothing; -o json has every input and output.",
    options: [directoryOption],
    forms,
    names: "each step's plugin type",
    attention: unreadable,
  },
  {
    name: "trace diff",
    summary: "shows what differs between two chain traces",
    synopsis: "FILE FILE",
    count: [2, 2],
    completes: "file",
    options: [],
    forms,
    names: "each step that differs",
    attention: `the traces differ, or ${unreadable}`,
  },
  {
    name: "trace replay",
    summary: "runs the components of a chain trace again, and compares",
    synopsis: "FILE",
    count: [1, 1],
    completes: "file",
    details:
      "Each component runs in the sandbox with the recorded input, grants and limits. Its imports and native plugins are answered from the trace, so nothing on the node changes, and no privilege is needed.",
    options: [
      {
        name: "components",
        value: "DIRECTORY",
        about: "takes TYPE.wasm from this directory, in place of the recorded paths",
        completes: "directory",
      },
    ],
    forms,
    names: "each step that differs",
    attention: `a component gave another outcome, or could not be replayed, or ${unreadable}`,
  },
];

/** The commands. */
export const traceCommands: readonly Command[] = specs.map((spec) => ({
  ...spec,
  run: async (line) => (await import("./run-trace.ts")).runTrace(spec.name.slice("trace ".length), line),
}));
