// The optional capability: a bridge without ipMasq and macspoofchk needs no grant of `firewall`.

import { AttachmentRequest, GcRequest, StatusRequest } from "plexus/abi/plugin";
import { Fault } from "plexus/abi/types";
import * as optional from "plexus/optional-firewall";
import { Settings } from "./settings";

/** The setting that makes rules; "" for none. */
function setting(settings: Settings): string {
  return !settings.hasRules ? "" : settings.macSpoofCheck ? "macspoofchk" : "ipMasq";
}

/** ADD and CHECK: a setting that would have no effect is refused. */
export function refuseWithoutFirewall(request: AttachmentRequest, settings: Settings): Fault | null {
  return optional.refuseWithoutFirewall(request.call, setting(settings));
}

/** STATUS: the plugin can't serve an ADD. */
export function notReadyWithoutFirewall(request: StatusRequest, settings: Settings): Fault | null {
  return optional.notReadyWithoutFirewall(request.call, setting(settings));
}

/** DEL: a pod that was attached has rules. Without a result there was no attachment, and nothing is to be removed. */
export function keepsRulesWithoutFirewall(request: AttachmentRequest, settings: Settings): Fault | null {
  return request.prevResult === null ? null : optional.keepsRulesWithoutFirewall(request.call, setting(settings));
}

/** GC: rules of stale attachments remain. */
export function keepsStaleRulesWithoutFirewall(request: GcRequest, settings: Settings): Fault | null {
  return optional.keepsRulesWithoutFirewall(request.call, setting(settings));
}
