// The report of the tables of Services that the daemon wrote for the node's pods.

import type { FollowedContainer } from "../../../host/node/running-pods/follow-pods.ts";
import { servedPorts, type ServiceTables } from "../rules/table-report.ts";
import { writtenTable } from "./served-pods.ts";

/** The report; `pods`: only of these, empty: of all. */
export function reportTables(isOn: boolean, containers: readonly FollowedContainer[], pods: readonly string[]): ServiceTables {
  const own = containers.filter(({ pod }) => pods.length === 0 || pods.includes(pod));
  const found = own.map(({ pod, containerId, netns, failure }) => {
    const written = writtenTable(containerId, netns);
    const ports = servedPorts(written?.ports ?? []);
    return { pod, isKnown: written !== undefined, ...(failure === undefined ? {} : { failure }), ports };
  });
  return {
    apiVersion: "plexus/v1",
    kind: "ServiceTables",
    isOn,
    pods: found.toSorted((one, other) => (one.pod < other.pod ? -1 : Number(one.pod > other.pod))),
  };
}

/** The number of pods that have a table. */
export function tableCount(containers: readonly FollowedContainer[]): number {
  return containers.filter(({ containerId, netns }) => (writtenTable(containerId, netns)?.ports.length ?? 0) > 0).length;
}
