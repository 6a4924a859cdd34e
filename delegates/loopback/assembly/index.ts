// Brings up the pod's `lo`, whatever the attachment's interface name is. README.md describes its result.

import { Address, apply, Change, LinkName, Operation, Place, read } from "plexus/abi/links";
import { AttachmentRequest, Fault, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { IpConfig, NetworkInterface, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { ownFault } from "plexus/faults";
import { Ip } from "plexus/ip";
import { Some } from "plexus/some";

/** `lo` has an address that is not a loopback address. */
const NON_LOOPBACK_ADDRESS: u32 = 100;
/** CHECK: `lo` is down or missing. */
const DOWN: u32 = 101;

/** Brings up `lo`. The result is prevResult, or `lo` with its addresses. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const applied = apply([changeOf(true)]);
  if (!applied.isOk) return SuccessOrFault.err(applied.error);
  const addresses: Array<Address> = applied.value.length == 0 ? [] : applied.value[0].addresses;
  const found = nonLoopbackAddress(addresses);
  if (found !== null) {
    return SuccessOrFault.err(
      ownFault(NON_LOOPBACK_ADDRESS, `loopback interface found with non-loopback address "${found.toString()}"`),
    );
  }
  const previous = request.prevResult;
  return SuccessOrFault.ok(previous === null ? resultOf(addresses, request.attachment.netns) : previous);
}

/** Takes `lo` down. Without a namespace there is nothing to do. */
export function del(request: AttachmentRequest): Fault | null {
  if (request.attachment.netns === null) return null;
  const found = read([lo()]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0 || !found.value[0].up) return null;
  const applied = apply([changeOf(false)]);
  return applied.isOk ? null : applied.error;
}

/** Answers code 101 if `lo` is down. */
export function check(_request: AttachmentRequest): Fault | null {
  const found = read([lo()]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0 || !found.value[0].up) return ownFault(DOWN, "loopback interface is down");
  return null;
}

/** No state is kept, so nothing is stale. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** No resources are needed, so none can be missing. */
export function status(_request: StatusRequest): Fault | null {
  return null;
}

function lo(): LinkName {
  return new LinkName(Place.Pod, "lo");
}

function changeOf(up: bool): Operation {
  const change = new Change(lo());
  change.up = new Some<bool>(up);
  return Operation.changeLink(change);
}

/** The first address that is neither in 127.0.0.0/8 nor ::1. */
function nonLoopbackAddress(addresses: Array<Address>): Ip | null {
  for (let i = 0; i < addresses.length; i++) {
    const address = Cidr.parse(addresses[i].address);
    if (address !== null && !isLoopback(address.ip)) return address.ip;
  }
  return null;
}

function isLoopback(ip: Ip): bool {
  return ip.family == 4 ? ip.lo >> 24 == 127 : ip.hi == 0 && ip.lo == 1;
}

/** The interface with its first address of each family. */
function resultOf(addresses: Array<Address>, netns: string | null): Success {
  const result = new Success();
  const made = new NetworkInterface("lo");
  made.mac = "00:00:00:00:00:00";
  made.sandbox = netns;
  result.interfaces.push(made);
  for (let family = 4; family <= 6; family += 2) {
    for (let i = 0; i < addresses.length; i++) {
      const address = Cidr.parse(addresses[i].address);
      if (address === null || address.ip.family != family) continue;
      const ip = new IpConfig(addresses[i].address);
      ip.interface_ = new Some<i32>(0);
      result.ips.push(ip);
      break;
    }
  }
  return result;
}
