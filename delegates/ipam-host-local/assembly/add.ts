// ADD: one address out of each range set, or none at all.

import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { AttachmentId, Fault, IpConfig, Success } from "plexus/abi/types";
import * as leases from "plexus/abi/leases";
import * as resolver from "plexus/abi/resolver";
import { Ip } from "plexus/ip";
import { duplicate, exhausted, unavailable } from "./faults";
import { Range } from "./range";
import { RangeSet } from "./range-set";
import { Settings } from "./settings";

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

/** Fills `success.ips`, in the order of the sets. On a fault all that this attachment holds is given back. */
function reserveAll(settings: Settings, owner: AttachmentId, success: Success): Fault | null {
  let failed: Fault | null = null;
  for (let i = 0; i < settings.sets.length && failed === null; i++) failed = reserveIn(settings, i, owner, success);
  if (failed === null && settings.requested.length > 0) {
    const asked = settings.requested.toString();
    failed = unavailable(`asked for ${asked}, but no range set is left that could give it: ${allSets(settings)}`);
  }
  // Native host-local gives back all of the attachment too; nothing reserved, nothing given back.
  if (failed !== null && success.ips.length > 0) leases.release(settings.pool(0), owner);
  return failed;
}

function reserveIn(settings: Settings, index: i32, owner: AttachmentId, success: Success): Fault | null {
  const set = settings.sets[index];
  const pool = settings.pool(index);
  const wanted = settings.requested.takeFor(set);
  let address = "";
  if (wanted !== null) {
    if (set.isGateway(wanted)) return unavailable(`asked for ${wanted.toString()}, which is the gateway in ${set.toString()}`);
    const reserved = leases.reserve(pool, wanted.toString(), owner);
    if (!reserved.isOk) return reserved.error;
    if (!reserved.value) return unavailable(`asked for ${wanted.toString()} of ${set.toString()}, which is taken`);
    address = wanted.toString();
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
