// The tables of policies that the daemon wrote for the node's pods, as its report has them.

import type { FollowedContainer } from "../../../host/node/running-pods/follow-pods.ts";
import type { ReportedTables } from "../../tables-page.ts";
import { securedInterfaces } from "../rules/node-table.ts";
import { isolatedDirections, type PodPolicies, policyTablesKind } from "../rules/table-report.ts";
import { writtenEnds } from "./guarded-ends.ts";
import { writtenTable } from "./guarded-pods.ts";

/** The tables. */
export const reportedTables: ReportedTables<PodPolicies> = {
  kind: policyTablesKind,
  tableOf: ({ containerId, netns }) => {
    const written = writtenTable(containerId, netns);
    const isolated = written?.table === undefined ? [] : isolatedDirections(written.table);
    const atEnds = writtenEnds(containerId, netns)?.table;
    return { isKnown: written !== undefined, isolated, atNode: atEnds === undefined ? [] : securedInterfaces(atEnds) };
  },
};

/** The number of pods that have a table. */
export function tableCount(containers: readonly FollowedContainer[]): number {
  return containers.filter(({ containerId, netns }) => writtenTable(containerId, netns)?.table !== undefined).length;
}
