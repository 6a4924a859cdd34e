// ADD: the VRF is made unless the pod has it, and the interface joins it with its addresses and routes.

import {
  AddressChange,
  Address,
  apply,
  Change,
  InstalledRoute,
  Link,
  LinkName,
  Operation,
  Place,
  read,
  RouteChange,
  routes,
  Settling,
  Vrf,
} from "plexus/abi/links";
import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, Route } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { invalidConfig, ownFault } from "plexus/faults";
import { broughtUp } from "plexus/pod-interface";
import { Some } from "plexus/some";
import { waitWithin } from "plexus/waits";
import { HAS_MASTER, NO_INTERFACE, Settings } from "./settings";
import { FoundTable, freeTable, tableOf } from "./tables";

/** Maximum time for a restored IPv6 address to be tentative, in milliseconds. */
const settleMilliseconds: u32 = 5000;
const universe: u32 = 0;

/** Answers prevResult. After a fault the DEL that the host calls takes the interface out of the VRF. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(invalidConfig("prevResult", "missing prevResult from earlier plugin"));
  const ifname = new LinkName(Place.Pod, request.attachment.ifname);
  const found = read([ifname, settings.link]);
  if (!found.isOk) return SuccessOrFault.err(found.error);
  const link = named(found.value, ifname.name);
  if (link === null)
    return SuccessOrFault.err(ownFault(NO_INTERFACE, `could not get link by name ${ifname.name}: the pod has no such link`));
  const master = link.master;
  if (master !== null && master != "")
    return SuccessOrFault.err(ownFault(HAS_MASTER, `interface ${ifname.name} has already a master set: ${master}`));
  const earlier = routes(ifname);
  if (!earlier.isOk) return SuccessOrFault.err(earlier.error);

  const joining: Array<Operation> = [];
  let table: u32 = settings.table;
  const vrf = named(found.value, settings.vrf);
  if (vrf === null) {
    if (table == 0) {
      const free = freeTable();
      if (free.fault !== null) return SuccessOrFault.err(free.fault as Fault);
      table = free.table;
    }
    joining.push(Operation.addVrf(new Vrf(settings.vrf, table)));
    joining.push(Operation.changeLink(broughtUp(settings.link)));
  } else {
    const existing = tableOfExisting(settings, vrf);
    if (existing.fault !== null) return SuccessOrFault.err(existing.fault as Fault);
    table = existing.table;
  }
  const change = new Change(ifname);
  change.master = settings.vrf;
  joining.push(Operation.changeLink(change));
  const joined = apply(joining);
  if (!joined.isOk) return SuccessOrFault.err(joined.error);
  const fault = restore(request, link.addresses, earlier.value, table);
  return fault === null ? SuccessOrFault.ok(result) : SuccessOrFault.err(fault);
}

/** The table of the pod's VRF. A fault if the link of this name is no VRF, or one with another table than the configured one. */
function tableOfExisting(settings: Settings, vrf: Link): FoundTable {
  if (vrf.kind != "vrf")
    return new FoundTable(0, invalidConfig("vrfname", `${settings.vrf} is not a VRF, but a link of kind ${vrf.kind}`));
  const existing = tableOf(settings.vrf);
  if (existing.fault !== null || settings.table == 0 || existing.table == settings.table) return existing;
  return new FoundTable(
    0,
    invalidConfig("table", `VRF ${settings.vrf} already exist with different routing table ${existing.table}`),
  );
}

/**
 * Gives the interface its IPv6 addresses and its routes again. The kernel restarts an interface that joins a VRF: it removes the IPv6 addresses without
 * `keep_addr_on_down`, and all routes but those to the interface's own networks.
 */
function restore(
  request: AttachmentRequest,
  addresses: Array<Address>,
  earlier: Array<InstalledRoute>,
  table: u32,
): Fault | null {
  const ifname = new LinkName(Place.Pod, request.attachment.ifname);
  const found = read([ifname]);
  if (!found.isOk) return found.error;
  const now: Array<Address> = found.value.length == 0 ? [] : found.value[0].addresses;
  const operations: Array<Operation> = [];
  for (let i = 0; i < addresses.length; i++) {
    const address = Cidr.parse(addresses[i].address);
    if (address === null || address.ip.family != 6 || isLinkLocal(addresses[i].address) || has(now, addresses[i].address))
      continue;
    operations.push(Operation.addAddress(new AddressChange(ifname, addresses[i].address, false)));
  }
  if (operations.length > 0) {
    operations.push(Operation.settle(new Settling(ifname, waitWithin(request.call.remainingMs, settleMilliseconds))));
    const added = apply(operations);
    if (!added.isOk) return added.error;
  }
  const moved = movedRoutes(ifname, earlier, table);
  if (moved.length == 0) return null;
  const applied = apply(moved);
  return applied.isOk ? null : applied.error;
}

/** The main table's routes of universal scope, which are neither local nor connected, in the VRF's table. */
function movedRoutes(ifname: LinkName, earlier: Array<InstalledRoute>, table: u32): Array<Operation> {
  const operations: Array<Operation> = [];
  for (let i = 0; i < earlier.length; i++) {
    const one = earlier[i];
    const scope = one.scope;
    if (one.table !== null || (scope !== null && scope.value != universe) || isLinkLocal(one.dst)) continue;
    const route = new Route(one.dst);
    route.gw = one.gw;
    route.mtu = one.mtu;
    route.advmss = one.advmss;
    route.priority = one.priority;
    route.scope = one.scope;
    route.table = new Some<u32>(table);
    const change = new RouteChange(Place.Pod, route, false);
    change.link = ifname;
    change.source = one.source;
    operations.push(Operation.addRoute(change));
  }
  return operations;
}

function isLinkLocal(address: string): bool {
  return address.startsWith("fe80:");
}

function has(addresses: Array<Address>, wanted: string): bool {
  for (let i = 0; i < addresses.length; i++) if (addresses[i].address == wanted) return true;
  return false;
}

function named(links: Array<Link>, name: string): Link | null {
  for (let i = 0; i < links.length; i++) if (links[i].name == name) return links[i];
  return null;
}
