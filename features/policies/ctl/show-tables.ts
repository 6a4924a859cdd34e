// plexusctl policies tables: what the tables of this node's pods have.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { CommandResult, Invocation } from "../../../host/node/command-line/command.ts";
import { showNodeTables } from "../../../host/node/command-line/show-node-tables.ts";
import { placeText, type PodPolicies, policyTablesKind, policyTablesPath } from "../rules/table-report.ts";

/** Runs `plexusctl policies tables`. */
export function showTablesCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  return showNodeTables<PodPolicies>(line, {
    path: policyTablesPath,
    kind: policyTablesKind,
    hasTable: ({ isolated }) =>
      Array.isArray(isolated) && isolated.every((each) => isJsonObject(each) && Array.isArray(each["policies"])),
    off: "policies are off on this node: set the key policies in Plexus' configuration",
    none: "no table of policies",
    columns: ["POD", "INTERFACE", "NETWORK", "DIRECTION", "AT", "POLICIES (PEERS)"],
    rows: ({ pod, isolated, ...places }) =>
      isolated.map(({ ifname, network, direction, policies }) => {
        const named = policies.map(
          ({ policy, peers, omitted = 0 }) => `${policy} (${omitted === 0 ? peers : `${peers}; ${omitted} omitted`})`,
        );
        return [pod, ifname, network, direction, placeText(places, ifname), named.join(", ")];
      }),
  });
}
