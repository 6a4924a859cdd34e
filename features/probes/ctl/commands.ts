// The command that probes a network.

import { statusSocketOption } from "../../../host/node/command-line/common-options.ts";
import type { Command } from "../../../host/node/command-line/command.ts";

/** The commands. */
export const probeCommands: readonly Command[] = [
  {
    name: "probe",
    summary: "asks a network from a pod: its gateway, its other pods on this node, and given addresses",
    synopsis: "POD NETWORK [ADDRESS...]",
    count: [2, 32],
    details:
      "POD is NAMESPACE/NAME of a pod of this node. NETWORK is NAMESPACE/NAME of a definition, its name alone, or the interface. ADDRESS is a further address, such as that of a Service or of a pod on another node. " +
      "Each is asked for its neighbour, then by echo requests of the link's full size and of a small one. A node answers with its own policies: `plexusctl policies explain` says which policy stops a connection. Needs the key probes.",
    options: [statusSocketOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "the addresses that did not answer packets of full size",
    attention: "an address did not answer packets of full size, or the daemon could not probe",
    run: async (line) => (await import("./probe.ts")).probeCommand(line),
  },
];
