// CHECK: the veth, its addresses, the routes of both sides and the rules match the attachment's result.

import * as firewall from "plexus/abi/firewall";
import { Link, LinkName, Place, routes } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault, IpConfig, Route } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { checkOfIpam } from "plexus/ipam";
import { CheckedInterface, differs } from "plexus/main-interface-check";
import { rulesOf } from "plexus/masquerades";
import { refuseWithoutFirewall } from "plexus/optional-firewall";
import { missingRoute } from "plexus/pod-interface-check";
import { hostOnly } from "./plan";
import { Settings } from "./settings";

/** Answers code 102 with the first difference from the result, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = refuseWithoutFirewall(request.call, settings.ruleSetting);
  if (fault === null) fault = checkOfIpam(settings.ipam);
  if (fault !== null) return fault;
  const checked = CheckedInterface.find(request, "veth");
  fault = checked.fault;
  if (fault === null) fault = checked.compare();
  if (fault === null) fault = nodeDiffers(checked.link, checked.ips());
  if (fault !== null || !settings.ipMasq) return fault;
  const inForce = firewall.check(rulesOf(checked.ips()));
  if (!inForce.isOk) return inForce.error;
  return inForce.value ? null : differs("the rules that masquerade the pod's addresses are not in force");
}

/** The node's end must exist and lead to each address. */
function nodeDiffers(pod: Link, ips: Array<IpConfig>): Fault | null {
  const peer = pod.peer;
  if (peer === null) return differs(`the other end of the pod's ${pod.name} is not on the node`);
  const existing = routes(new LinkName(Place.Host, peer));
  if (!existing.isOk) return existing.error;
  const wanted = new Array<Route>();
  for (let i = 0; i < ips.length; i++) {
    const address = Cidr.parse(ips[i].address);
    if (address !== null) wanted.push(new Route(hostOnly(address.ip)));
  }
  const why = missingRoute(wanted, existing.value);
  return why === null ? null : differs(`${why} of the node over ${peer}`);
}
