// The optional capability: a bridge without ipMasq and macspoofchk needs no grant of `firewall`.

import { AttachmentRequest, GcRequest, StatusRequest } from "plexus/abi/plugin";
import { Call, Fault } from "plexus/abi/types";
import { CniCode, invalidConfig } from "plexus/faults";
import { Settings } from "./settings";

const remedy: string = "needs the capability firewall, which is not granted to this plugin: grant it, or leave this setting out";

/** Whether the rules of this configuration can be neither made nor removed in this call. */
function lacksFirewall(call: Call, settings: Settings): bool {
  return settings.hasRules && !call.granted.includes("firewall");
}

function setting(settings: Settings): string {
  return settings.macSpoofCheck ? "macspoofchk" : "ipMasq";
}

/** ADD and CHECK: a setting that would have no effect is refused. A network is never attached with less protection than configured. */
export function refuseWithoutFirewall(request: AttachmentRequest, settings: Settings): Fault | null {
  return lacksFirewall(request.call, settings) ? invalidConfig(setting(settings), remedy) : null;
}

/** STATUS: the plugin can't serve an ADD. */
export function notReadyWithoutFirewall(request: StatusRequest, settings: Settings): Fault | null {
  return lacksFirewall(request.call, settings) ? new Fault(CniCode.NotAvailable, `${setting(settings)}: ${remedy}`) : null;
}

/** DEL: a pod that was attached has rules. Without a result there was no attachment, and nothing is to be removed. */
export function keepsRulesWithoutFirewall(request: AttachmentRequest, settings: Settings): Fault | null {
  return request.prevResult !== null && lacksFirewall(request.call, settings) ? rulesRemain(settings) : null;
}

/** GC: rules of stale attachments remain. */
export function keepsStaleRulesWithoutFirewall(request: GcRequest, settings: Settings): Fault | null {
  return lacksFirewall(request.call, settings) ? rulesRemain(settings) : null;
}

function rulesRemain(settings: Settings): Fault {
  return invalidConfig(
    setting(settings),
    "rules of the firewall remain, and the capability firewall is no longer granted to this plugin: grant it until they are removed",
  );
}
