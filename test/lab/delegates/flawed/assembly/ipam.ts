// The role `ipam`: reserves one address of 10.9.0.0/24.

import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { AttachmentId, Fault, IpConfig, NetworkInterface, Success } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import * as leases from "plexus/abi/leases";

export function addAddress(request: AttachmentRequest, flaw: string): SuccessOrFault {
  const result = new Success();
  const owner = ownerOf(request);
  if (flaw == "races" || flaw == "assigns-twice") {
    // Between the count and the reservation, other calls run.
    const count = leases.count(pool(), ranges(), 250);
    if (!count.isOk) return SuccessOrFault.err(count.error);
    const address = `10.9.0.${count.value + 2}`;
    const reserved = leases.reserve(pool(), address, owner);
    if (!reserved.isOk) return SuccessOrFault.err(reserved.error);
    if (!reserved.value && flaw == "races") return SuccessOrFault.err(ownFault(101, `${address} is taken`));
    result.ips.push(new IpConfig(`${address}/24`));
    return SuccessOrFault.ok(result);
  }
  const next = leases.reserveNext(pool(), ranges(), [], owner);
  if (!next.isOk) return SuccessOrFault.err(next.error);
  const reservation = next.value;
  if (reservation === null) return SuccessOrFault.err(ownFault(102, "no address is free"));
  result.ips.push(new IpConfig(`${reservation.address}/24`));
  if (flaw == "ipam-lists-interface") result.interfaces.push(new NetworkInterface(request.attachment.ifname));
  return SuccessOrFault.ok(result);
}

export function releaseAddresses(request: AttachmentRequest): Fault | null {
  const released = leases.release(pool(), ownerOf(request));
  return released.isOk ? null : released.error;
}

export function checkAddress(request: AttachmentRequest, flaw: string): Fault | null {
  const held = leases.held(pool(), ownerOf(request));
  if (!held.isOk) return held.error;
  if (held.value.length > 0 || flaw == "check-ignores-lease") return null;
  return ownFault(101, "no address is reserved");
}

export function collectAddresses(request: GcRequest, flaw: string): Fault | null {
  if (flaw == "gc-does-nothing") return null;
  const retained = leases.retain(pool(), flaw == "gc-removes-all" ? [] : request.valid);
  return retained.isOk ? null : retained.error;
}

function pool(): leases.Pool {
  return new leases.Pool(0);
}

function ranges(): Array<leases.AddressRange> {
  return [new leases.AddressRange("10.9.0.2", "10.9.0.250")];
}

function ownerOf(request: AttachmentRequest): AttachmentId {
  return new AttachmentId(request.attachment.containerId, request.attachment.ifname);
}
