// Forwards ports of the node to the pod. README.md has its configuration.

import * as firewall from "plexus/abi/firewall";
import { write, Level } from "plexus/abi/log";
import { AttachmentRequest, GcRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { CniCode, invalidConfig, ownFault, withDetails } from "plexus/faults";
import { conditionsOf, rulesOf } from "./rules";
import { Settings } from "./settings";

/** CHECK: the mappings are not installed. */
const NOT_IN_FORCE: u32 = 100;

/** The previous result is passed on unchanged. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(missingResult());
  if (settings.mappings.length == 0) return SuccessOrFault.ok(result);
  const rules = rulesOf(settings, result, request.attachment.ifname);
  if (rules.portMappings.length == 0) write(Level.Warn, "no port is mapped: the interface has no address of a mapping's family");
  const refused = firewall.replaceRestricted(rules, conditionsOf(settings));
  return refused === null ? SuccessOrFault.ok(result) : SuccessOrFault.err(refused);
}

/** Ignores mistakes in the configuration: a rule that is not removed here keeps a port of the node occupied. */
export function del(request: AttachmentRequest): Fault | null {
  return firewall.remove();
}

/** Answers code 100 unless exactly the configured mappings are in force. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const result = request.prevResult;
  if (result === null) return missingResult();
  if (settings.mappings.length == 0) return null;
  const same = firewall.checkRestricted(rulesOf(settings, result, request.attachment.ifname), conditionsOf(settings));
  if (!same.isOk) return same.error;
  if (same.value) return null;
  return withDetails(
    ownFault(
      NOT_IN_FORCE,
      `the port mappings of ${request.attachment.containerId}/${request.attachment.ifname} are not in force`,
    ),
    "Another program changed the nftables tables named plexus. The next ADD of this attachment makes the rules anew.",
  );
}

/** Removes the rules of attachments that are not listed. */
export function gc(request: GcRequest): Fault | null {
  const removed = firewall.retain(request.valid);
  return removed.isOk ? null : removed.error;
}

/** Answers code 50 if rules cannot be made. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const refused = firewall.probe();
  return refused === null ? null : new Fault(CniCode.NotAvailable, refused.msg);
}

function missingResult(): Fault {
  return invalidConfig("prevResult", "is missing: portmap must follow a plugin that gives the pod its addresses");
}
