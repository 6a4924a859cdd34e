// The role `interface`: a dummy link with the addresses and routes of the IPAM plugin.

import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, IpConfig, NetworkInterface, Route, Success } from "plexus/abi/types";
import {
  AddressChange,
  apply,
  Change,
  Dummy,
  Link,
  LinkName,
  Operation,
  Place,
  read,
  RouteChange,
  routes,
} from "plexus/abi/links";
import { Config } from "plexus/config";
import { ownFault } from "plexus/faults";
import { Some } from "plexus/some";
import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";

export function addInterface(request: AttachmentRequest, config: Config, flaw: string): SuccessOrFault {
  const ifname = request.attachment.ifname;
  let result = new Success();
  const type = ipamType(config);
  if (type !== null) {
    let other: string | null = null;
    if (flaw == "changes-ipam-config") other = `{"ipam":{"type":"${type}"}}`;
    const assigned = delegation.add(type, other);
    if (!assigned.isOk && flaw != "ignores-ipam") return SuccessOrFault.err(assigned.error);
    if (assigned.isOk) result = assigned.value;
  }
  const fault = makeLink(ifname, result, flaw);
  if (fault !== null) return SuccessOrFault.err(fault);
  if (config.bool("rules", false)) {
    const refused = firewall.replace(rulesOf(result));
    if (refused !== null) return SuccessOrFault.err(refused);
  }
  describe(request, result, flaw);
  return SuccessOrFault.ok(result);
}

function makeLink(ifname: string, result: Success, flaw: string): Fault | null {
  if (flaw == "makes-no-link") return null;
  if (flaw == "accepts-existing" && hasLink(ifname)) return null;
  const link = new LinkName(Place.Pod, ifname);
  const up = new Change(link);
  up.up = new Some<bool>(true);
  const operations = [Operation.addDummy(new Dummy(ifname)), Operation.changeLink(up)];
  for (let i = 0; i < result.ips.length && flaw != "sets-no-address"; i++) {
    operations.push(Operation.addAddress(new AddressChange(link, result.ips[i].address, false)));
  }
  for (let i = 0; i < result.routes.length; i++) {
    const route = new RouteChange(Place.Pod, result.routes[i], true);
    route.link = link;
    operations.push(Operation.addRoute(route));
  }
  const applied = apply(operations);
  return applied.isOk ? null : applied.error;
}

function describe(request: AttachmentRequest, result: Success, flaw: string): void {
  if (flaw == "lists-no-interface") return;
  const made = new NetworkInterface(request.attachment.ifname);
  made.sandbox = request.attachment.netns;
  result.interfaces.push(made);
  for (let i = 0; i < result.ips.length; i++) result.ips[i].interface_ = new Some<i32>(flaw == "wrong-index" ? 7 : 0);
}

export function checkInterface(request: AttachmentRequest, config: Config, flaw: string): Fault | null {
  const ifname = request.attachment.ifname;
  const previous = request.prevResult;
  if (previous === null) return ownFault(100, "prevResult is missing");
  const type = ipamType(config);
  if (type !== null && flaw != "check-ignores-ipam") {
    const fault = delegation.check(type, null);
    if (fault !== null) return fault;
  }
  const found = read([new LinkName(Place.Pod, ifname)]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0) {
    if (flaw == "check-ignores-link") return null;
    return ownFault(101, "the link is missing");
  }
  const missing = missingAddress(found.value[0], previous.ips);
  if (missing !== null && flaw != "check-ignores-address") return ownFault(102, `${missing} is missing`);
  const known = routes(new LinkName(Place.Pod, ifname));
  if (!known.isOk) return known.error;
  const lost = missingRoute(known.value, previous.routes);
  if (lost !== null && flaw != "check-ignores-route") return ownFault(103, `the route ${lost} is missing`);
  if (!config.bool("rules", false) || flaw == "check-ignores-rules") return null;
  const inForce = firewall.check(rulesOf(previous));
  if (!inForce.isOk) return inForce.error;
  if (inForce.value) return null;
  return ownFault(104, "the rules are missing");
}

export function removeInterface(ifname: string): Fault | null {
  const applied = apply([Operation.deleteLink(new LinkName(Place.Pod, ifname))]);
  return applied.isOk ? null : applied.error;
}

export function ipamType(config: Config): string | null {
  const ipam = config.object("ipam");
  if (ipam === null) return null;
  return ipam.string("type");
}

export function hasLink(name: string): bool {
  const found = read([new LinkName(Place.Pod, name)]);
  return found.isOk && found.value.length > 0;
}

function missingAddress(link: Link, ips: Array<IpConfig>): string | null {
  for (let i = 0; i < ips.length; i++) {
    let isThere = false;
    for (let k = 0; k < link.addresses.length; k++) if (link.addresses[k].address == ips[i].address) isThere = true;
    if (!isThere) return ips[i].address;
  }
  return null;
}

function missingRoute(found: Array<Route>, expected: Array<Route>): string | null {
  for (let i = 0; i < expected.length; i++) {
    let isThere = false;
    for (let k = 0; k < found.length; k++) if (found[k].dst == expected[i].dst) isThere = true;
    if (!isThere) return expected[i].dst;
  }
  return null;
}

function rulesOf(result: Success): firewall.Rules {
  const rules = new firewall.Rules();
  for (let i = 0; i < result.ips.length; i++) rules.masquerades.push(new firewall.Masquerade(result.ips[i].address));
  return rules;
}
