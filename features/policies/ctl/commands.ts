// Commands about policies on further networks.

import { accessOptions, statusSocketOption } from "../../../host/node/command-line/common-options.ts";
import type { Command } from "../../../host/node/command-line/command.ts";

/** The commands. */
export const policyCommands: readonly Command[] = [
  {
    name: "policies show",
    summary: "shows the policies on further networks, and what is wrong with them",
    synopsis: "[NAMESPACE...]",
    count: [0, Infinity],
    details:
      "Shows MultiNetworkPolicies, and NetworkPolicies if a PodNetwork asks for them. Needs the right to list both and PodNetworks.",
    options: [...accessOptions],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each policy",
    attention: "a policy cannot be read or names no network, or the API cannot be read",
    run: async (line) => (await import("./show-policies.ts")).showPoliciesCommand(line),
  },
  {
    name: "policies tables",
    summary: "shows the policies that the tables of this node's pods have, and why a table could not be written",
    synopsis: "[POD...]",
    count: [0, Infinity],
    details:
      "POD is NAMESPACE/NAME of a pod of this node; without one, all are shown. Asks the daemon, which answers with the tables that it wrote last: `nft list table inet plexus-policies` in the pod's network namespace shows what the kernel has.",
    options: [statusSocketOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "the pods that have a table",
    attention: "a pod's policies could not be applied, a pod is not on this node, or the daemon did not answer",
    run: async (line) => (await import("./show-tables.ts")).showTablesCommand(line),
  },
  {
    name: "policies explain",
    summary: "says which policy allows or stops a connection from one pod to another on a network",
    synopsis: "FROM TO NETWORK",
    count: [3, 3],
    details:
      "FROM and TO are NAMESPACE/NAME of pods. NETWORK is NAMESPACE/NAME of a definition, by default of TO's namespace, or podnetwork/NAME. Judges a new connection between their addresses on the network by the policies of both pods, as their nodes do. " +
      "Needs the right to read both pods and their namespaces, and to list MultiNetworkPolicies, NetworkPolicies and PodNetworks.",
    options: [
      { name: "port", value: "PORT[/PROTOCOL]", about: "the port, with TCP, UDP or SCTP", usual: "80/TCP" },
      ...accessOptions,
    ],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "the pods whose policies stop the connection",
    attention: "a policy stops the connection, or the API cannot be read",
    run: async (line) => (await import("./explain-policies.ts")).explainPoliciesCommand(line),
  },
];
