// A VLAN of a link of the node, for the pod. README.md has its configuration.

import { Fault, StatusRequest } from "plexus/abi/types";
import { statusOfIpam } from "plexus/ipam";
import { Settings } from "./settings";

export { add } from "./add";
export { check } from "./check";
export { delInterface as del, gcOfIpam as gc } from "plexus/ipam";

/** Whether an ADD would succeed now: the configuration is valid, IPAM is ready, and the node has the master. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = statusOfIpam(settings.ipam);
  if (fault === null) fault = settings.master.status(settings.mtu);
  return fault;
}
