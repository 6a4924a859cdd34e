// The page of a feature's tables on the daemon's status socket.

import { nodeTables, type PodTable } from "../src/kube/node-tables.ts";
import type { Page } from "../host/telemetry/page-server.ts";
import type { FollowedContainer, FollowPods } from "../host/node/running-pods/follow-pods.ts";

/** A feature's tables. `T` has what a table has. */
export interface ReportedTables<T> {
  readonly kind: string;
  /** The table of a container, with `isKnown`: whether the daemon has written it since its start. */
  readonly tableOf: (container: FollowedContainer) => T & Pick<PodTable, "isKnown">;
}

/** The page. Its parameter `pod` names a pod, any number of times; without one, the report has all pods. */
export function tablesPage<T>(
  follow: FollowPods,
  { kind, tableOf }: ReportedTables<T>,
): (method: string, query: string) => Promise<Page> {
  return async (method, query) => {
    if (method !== "GET") return { status: 405, type: "text/plain; charset=utf-8", body: "GET only\n" };
    const asked = new URLSearchParams(query).getAll("pod");
    const own = (await follow.containers()).filter(({ pod }) => asked.length === 0 || asked.includes(pod));
    const pods = own.map((container) => {
      const { pod, failure, shortfall } = container;
      const outcome = { ...(failure === undefined ? {} : { failure }), ...(shortfall === undefined ? {} : { shortfall }) };
      return { pod, ...outcome, ...tableOf(container) };
    });
    return { status: 200, type: "application/json", body: JSON.stringify(nodeTables(kind, follow.isOn, pods)) };
  };
}
