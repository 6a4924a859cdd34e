// A chained delegate that sets up source based routing for the pod's interface. README.md has its configuration.

import { AttachmentRequest, Fault, GcRequest, StatusRequest } from "plexus/abi/plugin";
import { LinkName, Place, read } from "plexus/abi/links";
import { deleteRules, listRules, Rule } from "plexus/abi/routing";
import { Cidr } from "plexus/cidr";
import { Ip } from "plexus/ip";
import { isFrom, podAddresses } from "./pod-address";
import { Settings } from "./settings";

export { add } from "./add";
export { check } from "./check";

/** Removes the rules whose source is an address of the interface. Routes of the tables end with the interface. */
export function del(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const listed = listRules(Place.Pod);
  if (!listed.isOk) return listed.error;
  if (listed.value.length == 0) return null;
  const own: Array<Ip> = [];
  const link = read([new LinkName(Place.Pod, request.attachment.ifname)]);
  if (!link.isOk) return link.error;
  for (let i = 0; i < link.value.length; i++) {
    const addresses = link.value[i].addresses;
    for (let n = 0; n < addresses.length; n++) addAddress(own, Cidr.parse(addresses[n].address));
  }
  const result = request.prevResult;
  if (result !== null) {
    const addresses = podAddresses(result, request.attachment.ifname);
    for (let i = 0; i < addresses.length; i++) own.push(addresses[i].cidr.ip);
  }
  const stale: Array<Rule> = [];
  for (let i = 0; i < listed.value.length; i++) {
    const rule = listed.value[i];
    const table = settings.table;
    if ((table === null || table.value == rule.table) && isFrom(rule, own)) stale.push(rule);
  }
  return stale.length == 0 ? null : deleteRules(Place.Pod, stale);
}

function addAddress(addresses: Array<Ip>, cidr: Cidr | null): void {
  if (cidr !== null) addresses.push(cidr.ip);
}

/** Rules end with the pod's namespace, so nothing is stale. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Succeeds for a valid configuration: no resources are needed. */
export function status(request: StatusRequest): Fault | null {
  return Settings.read(request.network).fault;
}
