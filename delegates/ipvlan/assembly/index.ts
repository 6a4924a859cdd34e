// An ipvlan for the pod on a link of the node. README.md has its configuration.

import { Fault, StatusRequest } from "plexus/abi/types";
import { statusOfIpam } from "plexus/ipam";
import { Settings } from "./settings";

export { add } from "./add";
export { check } from "./check";
export { delInterface as del, gcOfIpam as gc } from "plexus/ipam";

/**
 * Whether an ADD would succeed now: the configuration is valid, IPAM is ready, and the node has the configured master. Without one, the master may be
 * prevResult's, which STATUS does not have.
 */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = statusOfIpam(settings.ipam);
  if (fault === null && settings.master.name != "") fault = settings.master.status(0);
  return fault;
}
