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
    const ends = writtenEnds(containerId, netns);
    // The kernel may have refused the pod's own table: the policies are then those of the node's ends.
    const table = written === undefined ? ends?.pod : written.table;
    return {
      isKnown: written !== undefined || ends !== undefined,
      isolated: table === undefined ? [] : isolatedDirections(table),
      atNode: ends?.table === undefined ? [] : securedInterfaces(ends.table),
      inPod: written !== undefined,
    };
  },
};

/** The number of pods whose policies are in a table of their own or at the node's ends. */
export function tableCount(containers: readonly FollowedContainer[]): number {
  return containers.filter(hasPolicies).length;
}

function hasPolicies({ containerId, netns }: FollowedContainer): boolean {
  return (writtenTable(containerId, netns)?.table ?? writtenEnds(containerId, netns)?.pod) !== undefined;
}
