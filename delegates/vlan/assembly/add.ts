// ADD: addresses first, then the VLAN link with all its settings in one call.

import { Operation, Vlan } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { MainInterface } from "plexus/main-interface";
import { Some } from "plexus/some";
import { Settings } from "./settings";

/** Makes the VLAN link with IPAM's addresses. After a fault the addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = settings.master.check(settings.mtu);
  if (fault !== null) return SuccessOrFault.err(fault);
  const made = new MainInterface(request);
  const vlan = new Vlan(made.name, settings.master.link, settings.vlan);
  if (settings.mtu != 0) vlan.mtu = new Some<u32>(<u32>settings.mtu);
  made.making.push(Operation.addVlan(vlan));
  made.ipam = settings.ipam;
  made.dns = settings.dns;
  return made.add();
}
