// The pod's interface in a VRF. README.md has its configuration.

import { apply, Change, Link, LinkName, Operation, Place, read } from "plexus/abi/links";
import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { DIFFERS, Settings } from "./settings";
import { tableOf } from "./tables";

export { add } from "./add";

/** Takes the interface out of the VRF, and removes the VRF with its last interface. A missing link is not a fault. */
export function del(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  // A configuration without the VRF's name was refused by ADD.
  if (settings.vrf == "" || request.attachment.netns === null) return null;
  const ifname = new LinkName(Place.Pod, request.attachment.ifname);
  const found = read([settings.link, ifname]);
  if (!found.isOk) return found.error;
  const vrf: Link | null = found.value.length > 0 && found.value[0].name == settings.vrf ? found.value[0] : null;
  if (vrf === null || vrf.kind != "vrf") return null;
  const operations: Array<Operation> = [];
  let others = 0;
  for (let i = 0; i < vrf.members.length; i++) {
    if (vrf.members[i] != ifname.name) {
      others++;
      continue;
    }
    const leaving = new Change(ifname);
    leaving.master = "";
    operations.push(Operation.changeLink(leaving));
  }
  if (others == 0) operations.push(Operation.deleteLink(settings.link));
  if (operations.length == 0) return null;
  const applied = apply(operations);
  return applied.isOk ? null : applied.error;
}

/** Answers code 102 unless the interface is in the VRF, and the VRF has the configured table. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  if (request.prevResult === null) return invalidConfig("prevResult", "missing prevResult from earlier plugin");
  const name = request.attachment.ifname;
  const found = read([new LinkName(Place.Pod, name), settings.link]);
  if (!found.isOk) return found.error;
  let isVrf = false;
  let isMember = false;
  for (let i = 0; i < found.value.length; i++) {
    const link = found.value[i];
    const master = link.master;
    if (link.name == settings.vrf) isVrf = link.kind == "vrf";
    if (link.name == name) isMember = master !== null && master == settings.vrf;
  }
  if (!isVrf || !isMember) return ownFault(DIFFERS, `failed to find ${name} associated to vrf ${settings.vrf}`);
  if (settings.table == 0) return null;
  const existing = tableOf(settings.vrf);
  if (existing.fault !== null || existing.table == settings.table) return existing.fault;
  return ownFault(DIFFERS, `VRF ${settings.vrf} has the table ${existing.table}, the configuration says ${settings.table}`);
}

/** A VRF goes with the pod, so nothing is to be collected. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Whether the configuration is valid; an ADD needs nothing else of the node. */
export function status(request: StatusRequest): Fault | null {
  return Settings.read(request.network).fault;
}
