// Commands about Services on further networks.

import { accessOptions, statusSocketOption } from "../../../host/node/command-line/common-options.ts";
import type { Command } from "../../../host/node/command-line/command.ts";

/** The commands. */
export const serviceCommands: readonly Command[] = [
  {
    name: "services show",
    summary: "shows the Services on further networks with their endpoints, and what is wrong with them",
    synopsis: "[NAMESPACE...]",
    count: [0, Infinity],
    details:
      "ENDPOINTS are the ready addresses and all addresses of the Service's slices. Needs the right to list Services and EndpointSlices.",
    options: [...accessOptions],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each Service",
    attention: "a Service cannot be read or has no ready endpoint, or the API cannot be read",
    run: async (line) => (await import("./show-services.ts")).showServicesCommand(line),
  },
  {
    name: "services explain",
    summary: "says why a Service on a further network has its endpoints, or has none",
    synopsis: "SERVICE",
    count: [1, 1],
    details:
      "SERVICE is NAMESPACE/NAME, or a name in the namespace default. Names each pod that the Service selects, with the reason why it is an endpoint or is none. Needs the right to read the Service, and to list the pods and EndpointSlices of its namespace.",
    options: [...accessOptions],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "the pods that are ready endpoints",
    attention: "the Service has no ready endpoint or is behind, or the API cannot be read",
    run: async (line) => (await import("./explain-service.ts")).explainServiceCommand(line),
  },
  {
    name: "services tables",
    summary: "shows the Services that the tables of this node's pods have, and why a table could not be written",
    synopsis: "[POD...]",
    count: [0, Infinity],
    details:
      "POD is NAMESPACE/NAME of a pod of this node; without one, all are shown. Asks the daemon, which answers with the tables that it wrote last: `nft list table inet plexus-services` in the pod's network namespace shows what the kernel has.",
    options: [statusSocketOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "the pods that have a table",
    attention: "a pod's Services could not be written, a pod is not on this node, or the daemon did not answer",
    run: async (line) => (await import("./show-tables.ts")).showTablesCommand(line),
  },
];
