// A bond in the pod over links of the pod or devices of the node. README.md has its configuration.

import { apply, LinkName, Operation, Place, read } from "plexus/abi/links";
import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { checkOfIpam, delOfIpam, statusOfIpam } from "plexus/ipam";
import { MainInterface } from "plexus/main-interface";
import { CheckedInterface, differs } from "plexus/main-interface-check";
import { gcOfDevices } from "plexus/moved-device";
import { bondOf, namesOf, release } from "./members";
import { modeNames, Settings } from "./settings";

/** Makes the bond with its members and IPAM's addresses. After a fault nothing is left, and the members are as before. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const made = new MainInterface(request);
  const fault = bondOf(made.name, settings, made.making);
  if (fault !== null) return SuccessOrFault.err(fault);
  made.ipam = settings.ipam;
  made.dns = settings.dns;
  return made.add();
}

/** Releases the addresses, removes the bond, and gives the members free. A failure of IPAM does not stop the rest. */
export function del(request: AttachmentRequest): Fault | null {
  const fault = delOfIpam(request.network);
  const settings = Settings.readPlace(request.network);
  // Without a namespace only devices of the node are left.
  if (request.attachment.netns === null && settings.inPod) return fault;
  const operations: Array<Operation> = [];
  if (request.attachment.netns !== null)
    operations.push(Operation.deleteLink(new LinkName(Place.Pod, request.attachment.ifname)));
  const unread = release(settings, operations);
  if (unread !== null) return fault === null ? unread : fault;
  const released = apply(operations);
  return fault !== null || released.isOk ? fault : released.error;
}

/** Answers code 102 with the first difference from the result or the configuration, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = checkOfIpam(settings.ipam);
  if (fault !== null) return fault;
  const found = CheckedInterface.find(request, "bond");
  if (found.fault !== null) return found.fault;
  const name = found.link.name;
  const mode = found.link.mode;
  const wanted = modeNames[settings.mode] == "802.3ad" ? "ieee8023ad" : modeNames[settings.mode];
  if (mode !== null && mode != wanted) return differs(`The bond ${name} has the mode ${mode}, the configuration says ${wanted}`);
  const members = read(namesOf(settings));
  if (!members.isOk) return members.error;
  if (members.value.length < settings.members.length) return differs(`The pod lacks a link of the bond ${name}`);
  for (let i = 0; i < members.value.length; i++) {
    if (members.value[i].master != name) return differs(`Link ${members.value[i].name} is no member of the bond ${name}`);
  }
  return found.compare();
}

/** Collects IPAM's garbage, and moves devices of stale attachments back. */
export function gc(request: GcRequest): Fault | null {
  return gcOfDevices(request);
}

/** Whether an ADD would succeed now: the configuration is valid, and IPAM is ready. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  return settings.fault === null ? statusOfIpam(settings.ipam) : settings.fault;
}
