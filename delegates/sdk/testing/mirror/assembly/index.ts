// Passes its whole input to a capability, or back to the caller.

import { AttachmentRequest, Fault, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { AttachmentId, Dns, IpConfig, Success } from "plexus/abi/types";
import * as leases from "plexus/abi/leases";
import * as log from "plexus/abi/log";
import * as resolver from "plexus/abi/resolver";
import { Json } from "plexus/json";

function poolOf(request: AttachmentRequest): leases.Pool {
  const pool = new leases.Pool(<u32>request.attachment.args.length);
  pool.directory = request.attachment.netns;
  return pool;
}

function ownerOf(request: AttachmentRequest): AttachmentId {
  return new AttachmentId(request.attachment.containerId, request.attachment.ifname);
}

/** With a previous result: that result. Without: the answers of reserve and reserve-next. */
export function add(request: AttachmentRequest): SuccessOrFault {
  log.write(log.Level.Debug, request.network.config);
  log.write(log.Level.Warn, `${request.network.cniVersion} ${request.network.name}`);
  log.write(log.Level.Info, `${request.call.remainingMs} ${request.call.granted.join("|")}`);
  const pod = request.attachment.pod;
  if (pod !== null) {
    const uid = pod.uid;
    log.write(log.Level.Error, `${pod.namespace} ${pod.name} ${uid === null ? "none" : uid}`);
  }
  const previous = request.prevResult;
  if (previous !== null) return SuccessOrFault.ok(previous);
  const args = request.attachment.args;
  const ranges: Array<leases.AddressRange> = [];
  const skip: Array<string> = [];
  for (let i = 0; i < args.length; i++) {
    ranges.push(new leases.AddressRange(args[i].key, args[i].value));
    skip.push(args[i].value);
  }
  const exact = leases.reserve(poolOf(request), request.attachment.ifname, ownerOf(request));
  if (!exact.isOk) return SuccessOrFault.err(exact.error);
  const next = leases.reserveNext(poolOf(request), ranges, skip, ownerOf(request));
  if (!next.isOk) return SuccessOrFault.err(next.error);
  const success = new Success();
  const found = next.value;
  success.ips.push(new IpConfig(found === null ? `none ${exact.value}` : `${found.address} ${found.heldBefore}`));
  success.dns = new Dns();
  return SuccessOrFault.ok(success);
}

/** The answer of release, as a fault. */
export function del(request: AttachmentRequest): Fault | null {
  const released = leases.release(poolOf(request), ownerOf(request));
  return released.isOk ? new Fault(100, released.value.toString()) : released.error;
}

/** The answers of held and count, as a fault. */
export function check(request: AttachmentRequest): Fault | null {
  const held = leases.held(poolOf(request), ownerOf(request));
  if (!held.isOk) return held.error;
  const count = leases.count(poolOf(request), [], u32.MAX_VALUE);
  if (!count.isOk) return count.error;
  if (held.value.length == 0) return null;
  const fault = new Fault(count.value, held.value.join("|"));
  fault.details = held.value[0];
  return fault;
}

/** The answer of probe, then that of retain, as a fault. */
export function gc(request: GcRequest): Fault | null {
  const pool = new leases.Pool(u32.MAX_VALUE);
  const broken = leases.probe(pool);
  if (broken !== null) return broken;
  const dropped = leases.retain(pool, request.valid);
  return dropped.isOk ? new Fault(dropped.value, request.network.config) : dropped.error;
}

/** The resolver's answer for the network's name, as a fault. */
export function status(request: StatusRequest): Fault | null {
  const read = resolver.read(request.network.name);
  if (!read.isOk) return read.error;
  const dns = read.value;
  const domain = dns.domain;
  const fault = new Fault(
    <u32>dns.options.length,
    `${dns.nameservers.join("|")} ${dns.search.join("|")} ${dns.options.join("|")}`,
  );
  fault.details = domain === null ? null : Json.string(domain).toString();
  return fault;
}
