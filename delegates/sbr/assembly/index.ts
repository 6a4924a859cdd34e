// A chained delegate that sets up source based routing for the pod's interface. README.md has its configuration.

import { AttachmentRequest, Fault, GcRequest, StatusRequest } from "plexus/abi/plugin";
import { LinkName, Place, read } from "plexus/abi/links";
import { deleteRules, listRules, Rule } from "plexus/abi/routing";
import { Success } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { Ip } from "plexus/ip";
import { Cidr } from "plexus/cidr";
import { PodAddress, podAddresses } from "./pod-address";
import { Settings } from "./settings";

export { add } from "./add";

/** CHECK: a rule is missing. */
const NO_RULE: u32 = 100;

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

/** Whether the rule's source is one of the addresses. */
function isFrom(rule: Rule, addresses: Array<Ip>): bool {
  const text = rule.source;
  const source: Cidr | null = text === null ? null : Cidr.parse(text);
  if (source === null) return false;
  for (let i = 0; i < addresses.length; i++) if (source.ip.equals(addresses[i])) return true;
  return false;
}

/** Answers code 100 for an address of the result without a rule. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const result: Success | null = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "This plugin must be called as chained plugin");
  const listed = listRules(Place.Pod);
  if (!listed.isOk) return listed.error;
  const addresses = podAddresses(result, request.attachment.ifname);
  for (let i = 0; i < addresses.length; i++) {
    if (hasRule(listed.value, addresses[i], settings)) continue;
    return ownFault(NO_RULE, `no rule routes packets from ${addresses[i].source} by a table of ${request.attachment.ifname}`);
  }
  return null;
}

function hasRule(rules: Array<Rule>, address: PodAddress, settings: Settings): bool {
  const table = settings.table;
  for (let i = 0; i < rules.length; i++) {
    if (table !== null && rules[i].table != table.value) continue;
    if (isFrom(rules[i], [address.cidr.ip])) return true;
  }
  return false;
}

/** Rules end with the pod's namespace, so nothing is stale. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Succeeds for a valid configuration: no resources are needed. */
export function status(request: StatusRequest): Fault | null {
  return Settings.read(request.network).fault;
}
