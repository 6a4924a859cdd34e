// Finds the endpoints behind a cluster address, by the table that the daemon wrote for the pod.

import type { FollowPods } from "../../../host/node/running-pods/follow-pods.ts";
import type { FindEndpoints } from "../../../src/kube/service-endpoints.ts";
import { endpointsAt } from "../rules/table-report.ts";
import { writtenTable } from "./served-pods.ts";

/** The finder. A pod without a table reaches no Service. */
export function endpointFinder(follow: FollowPods): FindEndpoints {
  return async ({ pod, netns }, address) => {
    const container = (await follow.containers()).find((each) => each.pod === pod && each.netns === netns);
    const written = container && writtenTable(container.containerId, netns);
    return endpointsAt(written?.ports ?? [], address);
  };
}
