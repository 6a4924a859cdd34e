// A plugin of the role that `does` in its configuration names (`interface`, `chained`, `ipam`). `flaw` names one defect. Each defect breaks one
// rule that delegates/sdk/conformance/ checks; without it the plugin follows all rules.

import { AttachmentRequest, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault } from "plexus/abi/types";
import { Config } from "plexus/config";
import { invalidConfig, ownFault } from "plexus/faults";
import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import { addChained, checkChained, removeChained } from "./chained";
import { addInterface, checkInterface, hasLink, ipamType, removeInterface } from "./interface";
import { addAddress, checkAddress, collectAddresses, releaseAddresses } from "./ipam";

export function add(request: AttachmentRequest): SuccessOrFault {
  const config = Config.of(request.network);
  const flaw = flawOf(config);
  if (flaw == "add-fails") return SuccessOrFault.err(ownFault(100, "ADD fails"));
  if (config.bool("invalid", false)) {
    return SuccessOrFault.err(flaw == "wrong-code" ? ownFault(107, "invalid is set") : invalidConfig("invalid", "is set"));
  }
  if (flaw == "refuses-args" && config.has("args")) return SuccessOrFault.err(ownFault(100, "args is unknown"));
  const does = config.string("does");
  if (does == "ipam") return addAddress(request, flaw);
  if (does == "chained") return addChained(request, config, flaw);
  return addInterface(request, config, flaw);
}

export function del(request: AttachmentRequest): Fault | null {
  const config = Config.of(request.network);
  const flaw = flawOf(config);
  const ifname = request.attachment.ifname;
  const netns = request.attachment.netns;
  const isDescribed = request.prevResult !== null;
  if (flaw == "del-fails") return ownFault(100, "DEL fails");
  if (flaw == "del-needs-netns" && netns === null) return ownFault(100, "CNI_NETNS is missing");
  if (flaw == "del-needs-namespace" && netns !== null && !hasLink("lo")) return ownFault(100, "the namespace is gone");
  if (flaw == "del-needs-link" && isDescribed && hasLink("lo") && !hasLink(ifname)) return ownFault(100, "the link is gone");
  if (flaw == "del-needs-add" && !isDescribed && !hasLink(ifname)) return ownFault(100, "there was no ADD");
  if (flaw == "del-needs-result" && !isDescribed && hasLink(ifname)) return ownFault(100, "prevResult is missing");
  const does = config.string("does");
  if (does == "ipam") {
    if (flaw == "del-keeps-lease" && netns === null) return null;
    return releaseAddresses(request);
  }
  if (does == "chained") return removeChained(ifname);
  const type = ipamType(config);
  if (type !== null && flaw != "del-keeps-ipam") {
    const fault = delegation.del(type, null);
    if (fault !== null) return fault;
  }
  if (config.bool("rules", false)) {
    const fault = firewall.remove();
    if (fault !== null) return fault;
  }
  if (flaw == "del-keeps-link") return null;
  return removeInterface(ifname);
}

export function check(request: AttachmentRequest): Fault | null {
  const config = Config.of(request.network);
  const flaw = flawOf(config);
  if (flaw == "check-fails") return ownFault(100, "CHECK fails");
  const does = config.string("does");
  if (does == "ipam") return checkAddress(request, flaw);
  if (does == "chained") return checkChained(request, config, flaw);
  return checkInterface(request, config, flaw);
}

export function gc(request: GcRequest): Fault | null {
  const config = Config.of(request.network);
  const flaw = flawOf(config);
  if (flaw == "gc-fails") return ownFault(100, "GC fails");
  if (config.string("does") == "ipam") return collectAddresses(request, flaw);
  if (config.bool("rules", false)) {
    const retained = firewall.retain(request.valid);
    if (!retained.isOk) return retained.error;
  }
  const type = ipamType(config);
  if (type === null || flaw == "gc-keeps-ipam") return null;
  return delegation.gc(type, null);
}

export function status(request: StatusRequest): Fault | null {
  const config = Config.of(request.network);
  const flaw = flawOf(config);
  if (flaw == "status-fails") return ownFault(100, "STATUS fails");
  if (!config.bool("ready", true)) return flaw == "status-wrong-code" ? ownFault(150, "not ready") : new Fault(50, "not ready");
  const type = ipamType(config);
  if (type === null || config.string("does") == "ipam" || flaw == "status-keeps-ipam") return null;
  return delegation.status(type, null);
}

function flawOf(config: Config): string {
  const flaw = config.string("flaw");
  return flaw === null ? "" : flaw;
}
