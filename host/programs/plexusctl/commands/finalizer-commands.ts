// The command that ends plexus-controller's finalizers where no controller is left.

import { accessOptions } from "../../../node/command-line/common-options.ts";
import type { Command } from "../../../node/command-line/command.ts";

/** The commands. */
export const finalizerCommands: readonly Command[] = [
  {
    name: "finalizers release",
    summary: "takes Plexus' finalizers from objects of a cluster that has no plexus-controller any more",
    synopsis: "",
    count: [0, 0],
    details:
      "Without a controller, PodNetworks, PodNetworkAttachments, AddressPools and ExternalPorts keep their finalizers, so that their deletion, and that of " +
      "their namespaces, never ends. Nothing is written while a controller renews its Lease. An ExternalPort's port stays in the fabric: the output names it.",
    options: [
      { name: "write", about: "takes the finalizers away; without it the command only lists the objects" },
      { name: "lease", value: "NAMESPACE/NAME", about: "the Lease of plexus-controller", usual: "kube-system/plexus-controller" },
      ...accessOptions,
    ],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each object",
    attention: "a controller runs, or an object keeps its finalizer",
    run: async (line) => (await import("../finalizers/release-finalizers-command.ts")).releaseFinalizersCommand(line),
  },
];
