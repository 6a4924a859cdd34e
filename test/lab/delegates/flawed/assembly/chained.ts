// The role `chained`: sets the pod's MTU and a sysctl, and passes the result on.

import { AttachmentRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, NetworkInterface, Route } from "plexus/abi/types";
import { apply, Change, LinkName, Operation, Place, read } from "plexus/abi/links";
import { Config } from "plexus/config";
import { ownFault } from "plexus/faults";
import { Some } from "plexus/some";
import { hasLink } from "./interface";
import * as sysctl from "plexus/abi/sysctl";

const KEY = "net/core/somaxconn";

export function addChained(request: AttachmentRequest, _config: Config, flaw: string): SuccessOrFault {
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(ownFault(100, "prevResult is missing"));
  const change = new Change(new LinkName(Place.Pod, request.attachment.ifname));
  change.mtu = new Some<u32>(1400);
  const applied = apply([Operation.changeLink(change)]);
  if (!applied.isOk) return SuccessOrFault.err(applied.error);
  const written = sysctl.write([new sysctl.Setting(KEY, "512")]);
  if (!written.isOk) return SuccessOrFault.err(written.error);
  if (flaw == "drops-interfaces") result.interfaces = new Array<NetworkInterface>();
  if (flaw == "drops-routes") result.routes = new Array<Route>();
  if (flaw == "drops-dns") result.dns = null;
  return SuccessOrFault.ok(result);
}

/** Undoes ADD if the pod still has its link. */
export function removeChained(ifname: string): Fault | null {
  if (!hasLink(ifname)) return null;
  const change = new Change(new LinkName(Place.Pod, ifname));
  change.mtu = new Some<u32>(1500);
  const applied = apply([Operation.changeLink(change)]);
  if (!applied.isOk) return applied.error;
  const written = sysctl.write([new sysctl.Setting(KEY, "4096")]);
  if (!written.isOk) return written.error;
  return null;
}

export function checkChained(request: AttachmentRequest, _config: Config, flaw: string): Fault | null {
  const found = read([new LinkName(Place.Pod, request.attachment.ifname)]);
  if (!found.isOk) return found.error;
  const isChanged = found.value.length == 0 || found.value[0].mtu != 1400;
  if (isChanged && flaw != "check-ignores-attribute") return ownFault(101, "the MTU is not 1400");
  const values = sysctl.read([KEY]);
  if (!values.isOk) return values.error;
  if (values.value[0] != "512" && flaw != "check-ignores-sysctl") return ownFault(102, "the sysctl has another value");
  return null;
}
