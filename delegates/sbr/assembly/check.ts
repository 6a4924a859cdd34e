// CHECK: each address has its rule, and the rule's table still leads out of the interface.

import { InstalledRoute, LinkName, Place, routes } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import { listRules, Rule } from "plexus/abi/routing";
import { Fault } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { invalidConfig, ownFault } from "plexus/faults";
import { Ip } from "plexus/ip";
import { isFrom, PodAddress, podAddresses } from "./pod-address";
import { Settings } from "./settings";

/** An address has no rule. */
const NO_RULE: u32 = 100;
/** The table of an address' rule lacks a route. */
const NO_ROUTE: u32 = 101;

/** Answers code 100 for an address of the result without a rule, and code 101 for a table that lacks the address' routes. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const result = request.prevResult;
  if (result === null) return invalidConfig("prevResult", "This plugin must be called as chained plugin");
  const listed = listRules(Place.Pod);
  if (!listed.isOk) return listed.error;
  const ifname = request.attachment.ifname;
  const addresses = podAddresses(result, ifname);
  const wanted = settings.table;
  for (let i = 0; i < addresses.length; i++) {
    const rules = rulesFrom(listed.value, addresses[i].cidr.ip);
    let isRouted = false;
    for (let n = 0; n < rules.length; n++) if (wanted === null || wanted.value == rules[n].table) isRouted = true;
    if (!isRouted) return ownFault(NO_RULE, `no rule routes packets from ${addresses[i].source} by a table of ${ifname}`);
    // The routes of a configured table are another plugin's.
    const fault = wanted === null ? lacksRoutes(addresses[i], rules, ifname) : null;
    if (fault !== null) return fault;
  }
  return null;
}

function rulesFrom(rules: Array<Rule>, source: Ip): Array<Rule> {
  const found: Array<Rule> = [];
  for (let i = 0; i < rules.length; i++) if (isFrom(rules[i], [source])) found.push(rules[i]);
  return found;
}

/** Null if one of the rules' tables has the routes that ADD gave it; otherwise the fault of the first. */
function lacksRoutes(address: PodAddress, rules: Array<Rule>, ifname: string): Fault | null {
  const installed = routes(new LinkName(Place.Pod, ifname));
  if (!installed.isOk) return installed.error;
  let first: string | null = null;
  for (let i = 0; i < rules.length; i++) {
    const missing = missingIn(rules[i].table, address, installed.value);
    if (missing === null) return null;
    if (first === null) first = missing;
  }
  return first === null ? null : ownFault(NO_ROUTE, first);
}

/** The route to the address' network or to its gateway that the table lacks; null: none. */
function missingIn(table: u32, address: PodAddress, installed: Array<InstalledRoute>): string | null {
  const cidr = address.cidr;
  // A network of one address has no route.
  if (cidr.prefix < cidr.ip.bits && !has(installed, table, cidr.masked(), null))
    return `table ${table}, by which packets from ${address.source} are routed, has no route to ${cidr.masked().toString()}`;
  const text = address.gateway;
  const gateway: Ip | null = text === null ? null : Ip.parse(text);
  // route-override leaves an all-zero gateway in the result where it has flushed the main table's.
  if (gateway === null || (gateway.hi == 0 && gateway.lo == 0)) return null;
  if (has(installed, table, new Cidr(cidr.ip, 0).masked(), gateway)) return null;
  return `table ${table}, by which packets from ${address.source} are routed, has no default route by ${gateway.toString()}`;
}

/** `gateway`: null for any, or none. */
function has(installed: Array<InstalledRoute>, table: u32, wanted: Cidr, gateway: Ip | null): bool {
  for (let i = 0; i < installed.length; i++) {
    const one = installed[i];
    const routed = one.table;
    const dst = Cidr.parse(one.dst);
    if (routed === null || routed.value != table || dst === null) continue;
    if (dst.prefix != wanted.prefix || !dst.network.equals(wanted.ip)) continue;
    const text = one.gw;
    const gw: Ip | null = text === null ? null : Ip.parse(text);
    if (gateway === null || (gw !== null && gw.equals(gateway))) return true;
  }
  return false;
}
