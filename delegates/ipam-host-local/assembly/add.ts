// ADD: one address from each range set, or none at all.

import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { AttachmentId, Fault, IpConfig, Success } from "plexus/abi/types";
import * as leases from "plexus/abi/leases";
import * as resolver from "plexus/abi/resolver";
import { Ip } from "plexus/ip";
import { duplicate, exhausted, unavailable } from "./faults";
import { Range } from "./range";
import { RangeSet } from "./range-set";
import { Settings } from "./settings";

/** Reserves one address of each set. Codes 100 to 102 say why there is none. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  const invalid = settings.fault;
  if (invalid !== null) return SuccessOrFault.err(invalid);
  const success = new Success();
  success.routes = settings.routes;
  if (settings.resolvConf != "") {
    const dns = resolver.read(settings.resolvConf);
    if (!dns.isOk) return SuccessOrFault.err(dns.error);
    success.dns = dns.value;
  }
  const failed = reserveAll(settings, new AttachmentId(request.attachment.containerId, request.attachment.ifname), success);
  return failed === null ? SuccessOrFault.ok(success) : SuccessOrFault.err(failed);
}

/** Fills `success.ips` in the order of the sets. After a fault all addresses of this attachment are released. */
function reserveAll(settings: Settings, owner: AttachmentId, success: Success): Fault | null {
  let failed: Fault | null = null;
  for (let i = 0; i < settings.sets.length && failed === null; i++) failed = reserveIn(settings, i, owner, success);
  if (failed === null && settings.requested.length > 0) {
    const unassigned = settings.requested.toString();
    failed = unavailable(
      `no range set can assign the requested ${unassigned}: each set assigns one address, of ${allSets(settings)}`,
    );
  }
  // Like native host-local, this releases all addresses of the attachment. Without a reservation nothing is released.
  if (failed !== null && success.ips.length > 0) leases.release(settings.pool(0), owner);
  return failed;
}

function reserveIn(settings: Settings, index: i32, owner: AttachmentId, success: Success): Fault | null {
  const set = settings.sets[index];
  const pool = settings.pool(index);
  const requested = settings.requested.takeFor(set);
  let address = "";
  if (requested !== null) {
    if (set.isGateway(requested))
      return unavailable(`the requested address ${requested.toString()} is the gateway of ${set.toString()}`);
    const reserved = leases.reserve(pool, requested.toString(), owner);
    if (!reserved.isOk) return reserved.error;
    if (!reserved.value) return unavailable(`the requested address ${requested.toString()} of ${set.toString()} is taken`);
    address = requested.toString();
  } else {
    const next = leases.reserveNext(pool, set.toAddressRanges(), set.gateways(), owner);
    if (!next.isOk) return next.error;
    const value = next.value;
    if (value === null) return exhausted(set);
    if (value.heldBefore) return duplicate(value.address, owner.containerId, owner.ifname);
    address = value.address;
  }
  const range = set.rangeOf(Ip.parse(address) as Ip) as Range;
  const ip = new IpConfig(`${address}/${range.prefix}`);
  ip.gateway = range.gateway.toString();
  success.ips.push(ip);
  return null;
}

function allSets(settings: Settings): string {
  return settings.sets.map<string>((set) => set.toString()).join("; ");
}
