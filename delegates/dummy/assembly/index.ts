// A dummy link in the pod, with addresses. README.md has its configuration.

import { Dummy, Operation } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { checkOfIpam, statusOfIpam } from "plexus/ipam";
import { MainInterface } from "plexus/main-interface";
import { CheckedInterface, differs } from "plexus/main-interface-check";
import { Settings } from "./settings";

export { delInterface as del, gcOfIpam as gc } from "plexus/ipam";

/** Makes the dummy link with IPAM's addresses. After a fault the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const made = new MainInterface(request);
  made.making.push(Operation.addDummy(new Dummy(made.name)));
  made.ipam = settings.ipam;
  made.keepsIpamDns = true;
  return made.add();
}

/** Answers code 102 with the first difference from the result, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = checkOfIpam(settings.ipam);
  if (fault !== null) return fault;
  const found = CheckedInterface.find(request, "dummy");
  if (found.fault !== null) return found.fault;
  return found.link.up ? found.compare() : differs(`Interface ${found.link.name} is down`);
}

/** Whether an ADD would succeed now: the configuration is valid, and IPAM is ready. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  return settings.fault === null ? statusOfIpam(settings.ipam) : settings.fault;
}
