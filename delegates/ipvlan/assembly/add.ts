// ADD: addresses first, then the ipvlan with all its settings in one call.

import { Ipvlan, Operation } from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, Success } from "plexus/abi/types";
import { invalidConfig } from "plexus/faults";
import { MainInterface } from "plexus/main-interface";
import { Some } from "plexus/some";
import { Settings } from "./settings";

/** Makes the ipvlan with the addresses of IPAM, or in a chain of prevResult. After a fault IPAM's addresses are released. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  const before = request.prevResult;
  let fault = settings.fault;
  if (fault === null && settings.ipam == "" && (before === null || before.ips.length == 0))
    fault = invalidConfig(
      "ipam.type",
      "is missing, and prevResult has no addresses: set ipam, or let a plugin before give the addresses",
    );
  if (fault === null) fault = findMaster(settings, before);
  if (fault === null) fault = settings.master.check(0);
  if (fault !== null) return SuccessOrFault.err(fault);
  const made = new MainInterface(request);
  const ipvlan = new Ipvlan(made.name, settings.master.link, settings.mode);
  if (settings.mtu != 0) ipvlan.mtu = new Some<u32>(settings.mtu);
  made.making.push(Operation.addIpvlan(ipvlan));
  made.ipam = settings.ipam;
  made.notifiesIpv4 = true;
  made.notifiesIpv6 = true;
  made.dns = settings.dns;
  return settings.ipam == "" ? made.make(before) : made.add();
}

/** Without a configured master, the only interface of prevResult, or the link of the default route. */
function findMaster(settings: Settings, before: Success | null): Fault | null {
  if (settings.master.name != "" || before === null) return settings.master.find();
  if (before.interfaces.length != 1 || before.interfaces[0].name == "")
    return invalidConfig("master", "is missing, and prevResult lacks a single named interface");
  settings.master.name = before.interfaces[0].name;
  return null;
}
