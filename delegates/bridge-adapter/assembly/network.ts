// GC and STATUS, which concern the network as a whole.

import { GcRequest } from "plexus/abi/plugin";
import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import { Fault, StatusRequest } from "plexus/abi/types";
import { notReadyUnprobed } from "plexus/conflict-detection";
import { keepsStaleRulesWithoutFirewall, notReadyWithoutFirewall } from "./grants";
import { Settings } from "./settings";
import { addDetail } from "plexus/undo-faults";

/** Releases the addresses and removes the rules of stale attachments; their links disappeared with their namespaces. */
export function gc(request: GcRequest): Fault | null {
  const settings = Settings.readRest(request.network);
  if (settings.fault !== null) return settings.fault;
  const failed = settings.isLayer3 ? delegation.gc(settings.ipam, null) : null;
  if (settings.native || !settings.hasRules) return failed;
  const ruleFault = removeStaleRules(request, settings);
  if (failed === null || ruleFault === null) return failed === null ? ruleFault : failed;
  addDetail(failed, "stale rules were not removed", ruleFault);
  return failed;
}

function removeStaleRules(request: GcRequest, settings: Settings): Fault | null {
  const ungranted = keepsStaleRulesWithoutFirewall(request, settings);
  if (ungranted !== null) return ungranted;
  const retained = firewall.retain(request.valid);
  if (retained.isOk) return null;
  return retained.error;
}

/** Ready if the IPAM plugin is ready and, for ipMasq and macspoofchk, if rules can be made. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.readRest(request.network);
  if (settings.fault !== null) return settings.fault;
  const unprobed = notReadyUnprobed(settings.conflictDetection, request.call);
  if (unprobed !== null) return unprobed;
  const failed = settings.isLayer3 ? delegation.status(settings.ipam, null) : null;
  if (failed !== null || settings.native || !settings.hasRules) return failed;
  const ungranted = notReadyWithoutFirewall(request, settings);
  if (ungranted !== null) return ungranted;
  return firewall.probe();
}
