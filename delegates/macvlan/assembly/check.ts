// CHECK: the interface still matches the result of ADD.

import { Link, LinkName, Place, read, routes } from "plexus/abi/links";
import * as delegation from "plexus/abi/delegation";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault, IpConfig, NetworkInterface, Success } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { sameMac } from "plexus/mac";
import { missingAddress, missingRoute } from "plexus/pod-interface-check";
import { DIFFERS } from "./codes";
import { checkMaster, findMaster } from "./master";
import { modeNames, Settings } from "./settings";

/** Answers code 102 with the first difference from the result, code 100 without the master, or a fault of IPAM. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args);
  let fault = settings.fault;
  if (fault === null) fault = findMaster(settings);
  if (fault === null) fault = checkMaster(settings);
  if (fault === null && settings.ipam != "") fault = delegation.check(settings.ipam, null);
  if (fault !== null) return fault;
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "Required prevResult missing");

  const ifname = request.attachment.ifname;
  const found = read([new LinkName(Place.Pod, ifname)]);
  if (!found.isOk) return found.error;
  const entry = entryOf(result, ifname, request.attachment.netns);
  if (entry === null) {
    const netns = request.attachment.netns;
    return differs(`Sandbox in prevResult doesn't match configured netns: ${netns === null ? "" : netns}`);
  }
  if (found.value.length == 0) return differs(`Container Interface name in prevResult: ${ifname} not found`);
  const link = found.value[0];
  fault = linkDiffers(link, entry, settings);
  if (fault !== null) return fault;

  const existing = routes(null);
  if (!existing.isOk) return existing.error;
  let why = missingAddress(ifname, ipsOfEntry(result, entry), link.addresses, existing.value);
  if (why === null) why = missingRoute(result.routes, existing.value);
  return why === null ? null : differs(why);
}

/** The result's entry for the interface; null if it is missing or of another namespace. */
function entryOf(result: Success, ifname: string, netns: string | null): NetworkInterface | null {
  for (let i = result.interfaces.length - 1; i >= 0; i--) {
    const one = result.interfaces[i];
    if (one.name == ifname && one.sandbox !== null && one.sandbox == netns) return one;
  }
  return null;
}

/** The result's addresses, except those of other interfaces. */
function ipsOfEntry(result: Success, entry: NetworkInterface): Array<IpConfig> {
  const found: Array<IpConfig> = [];
  for (let i = 0; i < result.ips.length; i++) {
    const at = result.ips[i].interface_;
    if (at !== null && at.value >= 0 && at.value < result.interfaces.length && result.interfaces[at.value] !== entry) continue;
    found.push(result.ips[i]);
  }
  return found;
}

function linkDiffers(link: Link, entry: NetworkInterface, settings: Settings): Fault | null {
  if (link.kind != "macvlan") return differs(`Container interface ${link.name} not of type macvlan`);
  const mode = link.mode;
  const wanted = modeNames[settings.mode];
  if (mode !== null && mode != wanted) return differs(`Container macvlan mode ${mode} does not match expected value: ${wanted}`);
  const mac = entry.mac;
  const currentMac = link.mac;
  if (mac !== null && mac != "" && (currentMac === null || !sameMac(mac, currentMac)))
    return differs(`Interface ${link.name} Mac ${mac} doesn't match container Mac: ${currentMac === null ? "" : currentMac}`);
  return null;
}

function differs(what: string): Fault {
  return ownFault(DIFFERS, what);
}
