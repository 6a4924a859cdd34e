// The commands of the kit's program plexus-delegate, as `plexusctl delegate`.

import type { Command } from "../../../node/command-line/command.ts";

interface DelegateRow {
  readonly name: string;
  readonly synopsis: string;
  readonly summary: string;
  readonly needsKit: boolean;
}

/** The commands. A test compares the rows with the kit's own table. */
export const delegateRows: readonly DelegateRow[] = [
  { name: "new", synopsis: "NAME [CAPABILITY ...]", summary: "makes the repository of a new delegate", needsKit: true },
  { name: "build", synopsis: "[DIR]", summary: "builds the component of a delegate", needsKit: true },
  { name: "annotate", synopsis: "FILE", summary: "puts a declaration into a component", needsKit: false },
  {
    name: "inspect",
    synopsis: "FILE",
    summary: "shows imports, exports, declaration and digest of a component, and what a node would refuse",
    needsKit: false,
  },
  { name: "run", synopsis: "FILE VERB", summary: "runs one call of a component on a node in memory", needsKit: false },
  { name: "test", synopsis: "[DIR] [VECTOR ...]", summary: "builds a delegate and runs its vectors", needsKit: true },
  { name: "bench", synopsis: "FILE [VERB]", summary: "measures calls of a component", needsKit: false },
  {
    name: "conformance",
    synopsis: "FILE",
    summary: "checks a component or a native plugin against the CNI specification",
    needsKit: true,
  },
  { name: "fmt-vectors", synopsis: "[DIR] [VECTOR ...]", summary: "writes the answers of a delegate's vectors", needsKit: true },
  {
    name: "port",
    synopsis: "FILE.go [FILE.go ...]",
    summary: "prints the capabilities for the calls of a plugin in Go",
    needsKit: true,
  },
];

const details =
  "The command is that of the same name of plexus-delegate, with the same options: --help lists them. It runs in the sandbox of this release, without root.";
const kitDetails =
  "The command is that of the same name of plexus-delegate, which npm install --save-dev @plexus-cni/sdk puts into the delegate's repository.";

/** The commands. */
export const delegateCommands: readonly Command[] = delegateRows.map(({ name, synopsis, summary, needsKit }) => ({
  name: `delegate ${name}`,
  synopsis,
  summary,
  details: needsKit ? kitDetails : details,
  completes: needsKit ? "directory" : "file",
  options: [],
  attention: needsKit ? "the delegate has a defect. 3: the kit is missing" : "the component has a defect",
  isForeign: true,
  run: async ({ args }) => (await import("../delegate/run-delegate.ts")).runDelegate({ name, needsKit }, args),
}));
