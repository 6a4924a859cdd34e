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
      "POD is NAMESPACE/NAME of a pod of this node. NETWORK is NAMESPACE/NAME of a definition, its name alone, or the interface. ADDRESS is a further address, such as that of a pod on another node. The cluster address of a Service on the network stands for its endpoints: each is asked. " +
      "Each is asked for its neighbour, then by echo requests of the link's full size and of a small one. With the key policies the daemon judges the requests by the policies of this node's pods, and names the policies that forbid them: those of POD, and those of a target. `plexusctl policies explain` judges connections to ports and between nodes. Needs the key probes.",
    options: [statusSocketOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "the addresses that did not answer packets of full size",
    attention:
      "an address did not answer packets of full size, a policy forbids an answer that came, policies could not be judged, or the daemon could not probe",
    run: async (line) => (await import("./probe.ts")).probeCommand(line),
  },
];
