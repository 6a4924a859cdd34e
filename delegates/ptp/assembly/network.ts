// GC and STATUS, which concern the network as a whole.

import * as delegation from "plexus/abi/delegation";
import * as firewall from "plexus/abi/firewall";
import { GcRequest } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { keepsRulesWithoutFirewall, notReadyWithoutFirewall } from "plexus/optional-firewall";
import { addDetail } from "plexus/undo-faults";
import { Settings } from "./settings";

/** Releases the addresses and removes the rules of stale attachments; their links disappeared with their namespaces. */
export function gc(request: GcRequest): Fault | null {
  const settings = Settings.readForCleaning(request.network);
  if (settings.fault !== null) return settings.fault;
  const fault = delegation.gc(settings.ipam, null);
  const ruleFault = removeStaleRules(request, settings);
  if (fault !== null && ruleFault !== null) addDetail(fault, "stale rules were not removed", ruleFault);
  return fault !== null ? fault : ruleFault;
}

function removeStaleRules(request: GcRequest, settings: Settings): Fault | null {
  if (!settings.ipMasq) return null;
  const ungranted = keepsRulesWithoutFirewall(request.call, settings.ruleSetting);
  if (ungranted !== null) return ungranted;
  const retained = firewall.retain(request.valid);
  return retained.isOk ? null : retained.error;
}

/** Ready if the configuration is valid, IPAM is ready and, for ipMasq, rules can be made. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault === null) fault = delegation.status(settings.ipam, null);
  if (fault === null) fault = notReadyWithoutFirewall(request.call, settings.ruleSetting);
  return fault === null && settings.ipMasq ? firewall.probe() : fault;
}
