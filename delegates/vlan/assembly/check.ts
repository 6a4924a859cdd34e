// CHECK: the interface still matches the result of ADD.

import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault } from "plexus/abi/types";
import { checkOfIpam } from "plexus/ipam";
import { CheckedInterface, differs } from "plexus/main-interface-check";
import { Settings } from "./settings";

/** Answers code 102 with the first difference from the result, code 100 without the master, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = settings.master.check(settings.mtu);
  if (fault === null) fault = checkOfIpam(settings.ipam);
  if (fault !== null) return fault;
  const found = CheckedInterface.find(request, "vlan");
  if (found.fault !== null) return found.fault;
  const id = found.link.vlanId;
  if (id !== null && id.value != settings.vlan)
    return differs(`Container VLAN ID ${id.value} does not match expected value: ${settings.vlan}`);
  return found.compareWithMtu(settings.mtu);
}
