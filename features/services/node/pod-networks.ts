// The further networks of a pod's interfaces, as Services name them.

import { podNetworkPrefix } from "../../../src/npwg/network-name.ts";
import type { GuardedInterface } from "../../../host/engine/planned/plan-feature.ts";
import { networkId } from "../network-id.ts";

/** The ids of the networks, sorted. An interface without a definition is on the cluster's own network. */
export function networkIds(interfaces: readonly GuardedInterface[]): readonly string[] {
  const names = interfaces.flatMap(({ source, podNetwork }) => [
    ...(/^[^/\s]+\/[^/\s]+$/u.test(source) ? [source] : []),
    ...(podNetwork === undefined || podNetwork === "default" ? [] : [`${podNetworkPrefix}${podNetwork}`]),
  ]);
  return [...new Set(names)].map(networkId).toSorted();
}
