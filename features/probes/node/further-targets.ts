// The targets of a probe that its caller names. The address of a Service stands for the endpoints that the pod's connections reach behind it.

import type { FindEndpoints } from "../../../src/kube/service-endpoints.ts";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { ProbeTarget } from "../rules/probe-targets.ts";
import type { ProbedAttachment } from "./probed-attachment.ts";

/** Finds the targets. `find`: undefined on a node without Services. */
export async function furtherTargets(
  find: FindEndpoints | undefined,
  attachment: ProbedAttachment,
  addresses: readonly IpAddress[],
): Promise<readonly ProbeTarget[]> {
  const found = addresses.map(async (address): Promise<readonly ProbeTarget[]> => {
    const behind = await find?.(attachment, address);
    if (behind === undefined) return [{ what: "address", address }];
    const what = `Service ${behind.service} at ${formatAddress(address)}`;
    if (behind.endpoints.length === 0) return [{ what, address, isRefused: true }];
    return behind.endpoints.map((endpoint) => ({ what, address: endpoint, isEndpoint: true }));
  });
  return (await Promise.all(found)).flat();
}
