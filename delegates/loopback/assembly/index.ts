// Brings `lo` of the pod up, whatever the attachment's interface is called. README.md has what it answers.

import { Address, apply, Change, LinkName, Operation, Place, read } from "plexus/abi/links";
import { AttachmentRequest, Fault, GcRequest, Network, SuccessOrFault } from "plexus/abi/plugin";
import { IpConfig, NetworkInterface, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { ownFault } from "plexus/faults";
import { Ip } from "plexus/ip";
import { Some } from "plexus/some";

/** `lo` has an address that isn't one of the loopback's. */
const STRANGE_ADDRESS: u32 = 100;
/** CHECK: `lo` is down, or there is none. */
const DOWN: u32 = 101;

export function add(request: AttachmentRequest): SuccessOrFault {
  const applied = apply([set(true)]);
  if (!applied.isOk) return SuccessOrFault.err(applied.error);
  const addresses: Array<Address> = applied.value.length == 0 ? [] : applied.value[0].addresses;
  const strange = strangeAddress(addresses);
  if (strange !== null) {
    return SuccessOrFault.err(
      ownFault(STRANGE_ADDRESS, `loopback interface found with non-loopback address "${strange.toString()}"`),
    );
  }
  const previous = request.prevResult;
  return SuccessOrFault.ok(previous === null ? resultOf(addresses, request.attachment.netns) : previous);
}

/** Takes `lo` down. A namespace that is gone has nothing to take down. */
export function del(request: AttachmentRequest): Fault | null {
  if (request.attachment.netns === null) return null;
  const found = read([lo()]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0 || !found.value[0].up) return null;
  const applied = apply([set(false)]);
  return applied.isOk ? null : applied.error;
}

export function check(_request: AttachmentRequest): Fault | null {
  const found = read([lo()]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0 || !found.value[0].up) return ownFault(DOWN, "loopback interface is down");
  return null;
}

/** Nothing is kept, so nothing is stale. */
export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Nothing is needed that could be missing. */
export function status(_network: Network): Fault | null {
  return null;
}

function lo(): LinkName {
  return new LinkName(Place.Pod, "lo");
}

function set(up: bool): Operation {
  const change = new Change(lo());
  change.up = new Some<bool>(up);
  return Operation.changeLink(change);
}

/** The first address that is neither in 127.0.0.0/8 nor ::1. */
function strangeAddress(addresses: Array<Address>): Ip | null {
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
