// CHECK: the pod's interface and its port still match the result of ADD and the configuration.

import * as ovs from "plexus/abi/ovs";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault } from "plexus/abi/types";
import { checkOfIpam } from "plexus/ipam";
import { CheckedInterface, differs } from "plexus/main-interface-check";
import { Settings } from "./settings";
import { Vlans } from "./vlans";

/** Answers code 102 with the first difference, or a fault of IPAM or of Open vSwitch. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args);
  let fault = settings.fault;
  if (fault === null) fault = checkOfIpam(settings.ipam);
  if (fault !== null) return fault;
  const found = CheckedInterface.find(request, "veth");
  fault = found.fault;
  if (fault === null) fault = found.compareWithMtu(settings.mtu);
  if (fault !== null) return fault;
  const peer = found.link.peer;
  if (peer === null) return differs(`The other end of ${found.link.name} is not on the node`);
  return portDiffers(settings, peer);
}

function portDiffers(settings: Settings, name: string): Fault | null {
  const answer = ovs.port(name);
  if (!answer.isOk) return answer.error;
  const port = answer.value;
  if (port === null) return differs(`Open vSwitch has no port ${name} of this attachment`);
  if (port.bridge != settings.bridge)
    return differs(`Port ${name} is on bridge ${port.bridge}, the configuration says ${settings.bridge}`);
  if (port.interfaceId != settings.ovnPort)
    return differs(`Port ${name} has the iface-id "${port.interfaceId}", the request says "${settings.ovnPort}"`);
  const error = port.error;
  if (error !== null) return differs(`ovs-vswitchd cannot use port ${name}: ${error}`);
  // An agent of the fabric may set VLANs of a port that has none in the configuration.
  const wanted = settings.vlans;
  if (wanted.isAll || wanted.equals(new Vlans(port.tag, port.trunks))) return null;
  return differs(`Port ${name} has ${new Vlans(port.tag, port.trunks).toString()}, the configuration says ${wanted.toString()}`);
}
