// The status of a pod's PodNetworks (KEP-3698, "Status", last revision: Pod.status.networks), as an annotation: the kubelet owns status.podIPs.

import type { Family } from "../../../src/net/ip.ts";
import { familyOf } from "../../../src/cni/read-result.ts";
import type { CniResult } from "../../../src/cni/result.ts";

/** The annotation's key. The downward API can give the annotation to the pod's containers. */
export const podNetworkStatusAnnotation = "plexus.dev/network-status";

/** One attachment of a PodNetwork. */
export interface PodNetworkOutcome {
  readonly podNetwork: string;
  readonly ifname: string;
  /** Families whose default gateway the network has by the pod's request. */
  readonly gatewayOf: readonly Family[];
  readonly isPrimary: boolean;
  readonly result: CniResult;
}

/**
 * The annotation's text; undefined without outcomes. At most one address of each family for a network (KE-46). The primary network has the
 * default gateway of each family that no other network requests.
 */
export function podNetworkStatusText(outcomes: readonly PodNetworkOutcome[]): string | undefined {
  if (outcomes.length === 0) return undefined;
  const requested = new Set(outcomes.flatMap(({ gatewayOf }) => gatewayOf));
  const entries = outcomes.map(({ podNetwork, ifname, gatewayOf, isPrimary, result }) => {
    const first = (family: Family): string[] => {
      const address = result.ips.find((ip) => familyOf(ip.address) === String(family))?.address;
      return address === undefined ? [] : [address.replace(/\/\d+$/, "")];
    };
    const has = (family: Family): boolean => gatewayOf.includes(family) || (isPrimary && !requested.has(family));
    const ips = [...first(4), ...first(6)];
    return { name: podNetwork, interfaceName: ifname, ips, isDefaultGW4: has(4), isDefaultGW6: has(6) };
  });
  return JSON.stringify(entries);
}
