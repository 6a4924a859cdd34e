// The tables of policies that the daemon wrote for the node's pods, as its report has them.

import type { FollowedContainer } from "../../../host/node/running-pods/follow-pods.ts";
import type { ReportedTables } from "../../tables-page.ts";
import { isolatedDirections, type PodPolicies, policyTablesKind } from "../rules/table-report.ts";
import { writtenTable } from "./guarded-pods.ts";

/** The tables. */
export const reportedTables: ReportedTables<PodPolicies> = {
  kind: policyTablesKind,
  tableOf: ({ containerId, netns }) => {
    const written = writtenTable(containerId, netns);
    return { isKnown: written !== undefined, isolated: written?.table === undefined ? [] : isolatedDirections(written.table) };
  },
};

/** The number of pods that have a table. */
export function tableCount(containers: readonly FollowedContainer[]): number {
  return containers.filter(({ containerId, netns }) => writtenTable(containerId, netns)?.table !== undefined).length;
}
