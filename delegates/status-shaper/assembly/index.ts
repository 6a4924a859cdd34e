import { AttachmentRequest, GcRequest, Network, Success, Fault, SuccessOrFault } from "plexus/abi/plugin";
import * as log from "plexus/abi/log";
export function add(request: AttachmentRequest): SuccessOrFault {
  const prev = request.prevResult;
  log.write(log.Level.Info, request.network.config);
  if (prev === null) return SuccessOrFault.err(new Fault(7, "no prevResult"));
  return SuccessOrFault.ok(prev);
}
export function del(request: AttachmentRequest): Fault | null {
  return null;
}
export function check(request: AttachmentRequest): Fault | null {
  return null;
}
export function gc(request: GcRequest): Fault | null {
  return null;
}
export function status(network: Network): Fault | null {
  return null;
}
