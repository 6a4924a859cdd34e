// plexusctl services tables: what the tables of this node's pods have.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { CommandResult, Invocation } from "../../../host/node/command-line/command.ts";
import { showNodeTables } from "../../../host/node/command-line/show-node-tables.ts";
import { type PodServices, serviceTablesKind, serviceTablesPath } from "../rules/table-report.ts";

/** Runs `plexusctl services tables`. */
export function showTablesCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  return showNodeTables<PodServices>(line, {
    path: serviceTablesPath,
    kind: serviceTablesKind,
    hasTable: ({ ports }) =>
      Array.isArray(ports) && ports.every((each) => isJsonObject(each) && Array.isArray(each["endpoints"])),
    off: "Services are off on this node: set the key services in Plexus' configuration",
    none: "no table of Services",
    columns: ["POD", "SERVICE", "ADDRESS", "PORT", "ENDPOINTS"],
    rows: ({ pod, ports }) =>
      ports.map(({ service, address, protocol, port, endpoints }) => [
        pod,
        service,
        address,
        `${port}/${protocol}`,
        endpoints.join(", ") || "none: refused",
      ]),
  });
}
