// The tables of Services that the daemon wrote for the node's pods, as its report has them.

import type { FollowedContainer } from "../../../host/node/running-pods/follow-pods.ts";
import type { ReportedTables } from "../../tables-page.ts";
import { type PodServices, servedPorts, serviceTablesKind } from "../rules/table-report.ts";
import { unknownHash, writtenTable } from "./served-pods.ts";

/** The tables. */
export const reportedTables: ReportedTables<PodServices> = {
  kind: serviceTablesKind,
  tableOf: ({ containerId, netns }) => {
    const written = writtenTable(containerId, netns);
    return { isKnown: written !== undefined && written.hash !== unknownHash, ports: servedPorts(written?.ports ?? []) };
  },
};

/** The number of pods that have a table. */
export function tableCount(containers: readonly FollowedContainer[]): number {
  return containers.filter(({ containerId, netns }) => (writtenTable(containerId, netns)?.ports.length ?? 0) > 0).length;
}
