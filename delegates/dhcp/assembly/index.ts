// The IPAM plugin dhcp: the address of a DHCP server. README.md has its configuration.

import * as dhcp from "plexus/abi/dhcp";
import { Lease, Request } from "plexus/abi/dhcp";
import { Level, write } from "plexus/abi/log";
import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, IpConfig, Route, StatusRequest, Success } from "plexus/abi/types";
import { ownFault } from "plexus/faults";
import { Some } from "plexus/some";
import { waitWithin } from "plexus/waits";
import { Settings } from "./settings";

/** CHECK: the attachment has no lease, or another address than the result. */
const NO_LEASE: u32 = 100;
/** Maximum wait for a server, in milliseconds. */
const offerMilliseconds: u32 = 10_000;
/** The scope of a route whose router option 121 gives as 0.0.0.0. */
const scopeLink: u32 = 253;

/** Gets a lease on the attachment's interface, which exists and is up. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network, request.attachment.args);
  const fault = settings.fault;
  if (fault !== null) return SuccessOrFault.err(fault);
  if (settings.hasSocket) write(Level.Warn, "ipam.daemonSocketPath has no effect: Plexus renews leases itself");
  const asked = new Request(waitWithin(request.call.remainingMs, offerMilliseconds));
  asked.requested = settings.requested;
  asked.provided = settings.provided;
  const acquired = dhcp.acquire(asked);
  if (!acquired.isOk) return SuccessOrFault.err(acquired.error);
  return SuccessOrFault.ok(resultOf(acquired.value, settings.priority));
}

/** Releases the lease. Mistakes in the configuration do not stop it. */
export function del(request: AttachmentRequest): Fault | null {
  return dhcp.release();
}

/** The attachment still has the lease of its result. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network, request.attachment.args);
  if (settings.fault !== null) return settings.fault;
  const held = dhcp.held();
  if (!held.isOk) return held.error;
  const lease = held.value;
  if (lease === null) return ownFault(NO_LEASE, `interface ${request.attachment.ifname} has no lease of a DHCP server`);
  const result = request.prevResult;
  if (result === null) return null;
  for (let i = 0; i < result.ips.length; i++) if (result.ips[i].address == lease.address) return null;
  return ownFault(NO_LEASE, `the lease of ${request.attachment.ifname} is of ${lease.address}, which the result does not have`);
}

/** Releases the leases of attachments that are not valid. */
export function gc(request: GcRequest): Fault | null {
  const retained = dhcp.retain(request.valid);
  return retained.isOk ? null : retained.error;
}

/** Whether leases can be had and renewed here. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network, []);
  return settings.fault !== null ? settings.fault : dhcp.probe();
}

function resultOf(lease: Lease, priority: u32): Success {
  const result = new Success();
  const ip = new IpConfig(lease.address);
  ip.gateway = lease.gateway;
  result.ips.push(ip);
  for (let i = 0; i < lease.routes.length; i++) {
    const route: Route = lease.routes[i];
    const scope = route.scope;
    if (scope !== null && scope.value == scopeLink) route.gw = "0.0.0.0";
    if (priority != 0) route.priority = new Some<u32>(priority);
    result.routes.push(route);
  }
  return result;
}
