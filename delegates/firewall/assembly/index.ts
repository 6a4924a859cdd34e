// A chained delegate that accepts the pod's forwarded packets. README.md has its configuration.

import { Acceptance, difference, probe, remove, replace, retain } from "plexus/abi/filter";
import { AttachmentRequest, Fault, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { CniCode, invalidConfig, ownFault } from "plexus/faults";
import { Settings } from "./settings";

/** CHECK: a rule is missing. */
const NOT_IN_FORCE: u32 = 100;

/** The previous result is passed on unchanged. */
export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(missingResult());
  const acceptance = settings.acceptanceOf(result);
  if (settings.fault !== null) return SuccessOrFault.err(settings.fault as Fault);
  const refused = replace(acceptance);
  return refused === null ? SuccessOrFault.ok(result) : SuccessOrFault.err(refused);
}

/** Ignores mistakes in the configuration: a rule that is not removed here accepts packets of an address that is another pod's later. */
export function del(_request: AttachmentRequest): Fault | null {
  return remove();
}

/** Answers code 100 unless all rules of the configuration are in force. */
export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const result = request.prevResult;
  if (result === null) return missingResult();
  const acceptance: Acceptance = settings.acceptanceOf(result);
  if (settings.fault !== null) return settings.fault;
  const differs = difference(acceptance);
  if (!differs.isOk) return differs.error;
  const why = differs.value;
  return why === null ? null : ownFault(NOT_IN_FORCE, `the packets of ${request.attachment.ifname} are not accepted: ${why}`);
}

/** Removes the rules of attachments that are not valid. */
export function gc(request: GcRequest): Fault | null {
  const retained = retain(request.valid);
  return retained.isOk ? null : retained.error;
}

/** Answers code 50 if rules cannot be made. */
export function status(request: StatusRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const refused = probe();
  return refused === null ? null : new Fault(CniCode.NotAvailable, refused.msg);
}

function missingResult(): Fault {
  return invalidConfig("prevResult", "is missing: firewall must follow a plugin that gives the pod its addresses");
}
