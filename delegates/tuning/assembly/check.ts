// CHECK: the configured values are still set.

import { Link, LinkName, Place, read } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import * as sysctl from "plexus/abi/sysctl";
import { Fault } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { DIFFERS, NO_LINK } from "./codes";
import { Settings } from "./settings";

/** Answers code 101 with the first value that differs from the configuration. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment);
  if (settings.fault !== null) return settings.fault;
  if (request.prevResult === null) return invalidConfig("prevResult", "Required prevResult missing");
  const fault = sysctlsDiffer(settings);
  if (fault !== null) return fault;

  const ifname = request.attachment.ifname;
  const found = read([new LinkName(Place.Pod, ifname)]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0) return ownFault(NO_LINK, `Cannot find container link ${ifname}`);
  return linkDiffers(found.value[0], settings);
}

function sysctlsDiffer(settings: Settings): Fault | null {
  const wanted = settings.sysctls;
  if (wanted.length == 0) return null;
  const found = sysctl.read(wanted.map<string>((setting: sysctl.Setting) => setting.key));
  if (!found.isOk) return found.error;
  for (let i = 0; i < wanted.length; i++) {
    if (withSingleBlanks(wanted[i].value) == withSingleBlanks(found.value[i])) continue;
    return differs(
      `Tuning configured value of /proc/sys/${wanted[i].key} is ${wanted[i].value}, current value is ${found.value[i]}`,
    );
  }
  return null;
}

/** The kernel separates several numbers by tabs, whatever separators were written. */
function withSingleBlanks(text: string): string {
  const parts = text.trim().replaceAll("\t", " ").split(" ");
  const found: Array<string> = [];
  for (let i = 0; i < parts.length; i++) if (parts[i] != "") found.push(parts[i]);
  return found.join(" ");
}

function linkDiffers(link: Link, settings: Settings): Fault | null {
  const name = link.name;
  const mac = settings.mac;
  const currentMac = link.mac;
  if (mac !== null && (currentMac === null || mac != currentMac))
    return differs(
      `Tuning configured Ethernet of ${name} is ${mac}, current value is ${currentMac === null ? "none" : currentMac}`,
    );
  if (settings.promiscuous != link.promiscuous)
    return differs(`Tuning link ${name} configured promisc is ${settings.promiscuous}, current value is ${link.promiscuous}`);
  const mtu = settings.mtu;
  if (mtu !== null && mtu.value != link.mtu)
    return differs(`Tuning configured MTU of ${name} is ${mtu.value}, current value is ${link.mtu}`);
  const allMulticast = settings.allMulticast;
  if (allMulticast !== null && allMulticast.value != link.allMulticast)
    return differs(
      `Tuning configured all-multicast mode of ${name} is ${allMulticast.value}, current value is ${link.allMulticast}`,
    );
  const queue = settings.txQueueLength;
  if (queue !== null && queue.value != link.txQueueLength)
    return differs(
      `Tuning configured Transmit Queue Length of ${name} is ${queue.value}, current value is ${link.txQueueLength}`,
    );
  return null;
}

function differs(what: string): Fault {
  return ownFault(DIFFERS, `Error: ${what}`);
}
