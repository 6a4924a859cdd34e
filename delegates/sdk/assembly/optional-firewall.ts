// The capability `firewall` where a delegate declares it as optional: only networks with a setting that makes rules need the grant.

import { Call, Fault } from "./abi/types";
import { CniCode, invalidConfig, lacksCapability } from "./faults";

/** Whether the rules of a setting can be neither made nor removed in this call. `setting`: the key of the configuration; "" for none. */
function lacksFirewall(call: Call, setting: string): bool {
  return setting != "" && !call.granted.includes("firewall");
}

/** ADD and CHECK: a setting that would have no effect is refused. A network is never attached with less protection than configured. */
export function refuseWithoutFirewall(call: Call, setting: string): Fault | null {
  return lacksFirewall(call, setting) ? lacksCapability(setting, "firewall") : null;
}

/** STATUS: the plugin can't serve an ADD. */
export function notReadyWithoutFirewall(call: Call, setting: string): Fault | null {
  return lacksFirewall(call, setting) ? new Fault(CniCode.NotAvailable, lacksCapability(setting, "firewall").msg) : null;
}

/** DEL and GC: rules of earlier attachments remain. */
export function keepsRulesWithoutFirewall(call: Call, setting: string): Fault | null {
  if (!lacksFirewall(call, setting)) return null;
  return invalidConfig(setting, "rules remain that need the capability firewall: grant it until they are removed");
}
