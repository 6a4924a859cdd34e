// The step of a chain whose ADD failed. Such a step usually attached nothing, and its DEL often fails with the same error as its ADD,
// because both read the same configuration.

import type { FaultKind } from "../fault/catalogue.ts";
import type { Fault } from "../fault/fault.ts";

/** The end of an attachment's ADD. */
export interface FailedStep {
  /** Position in the list's `plugins`: those before it succeeded, those after it never ran. */
  readonly step: number;
  readonly code: number;
  readonly msg: string;
  /** True if the step was never begun: its plugin or component could not be started. */
  readonly notBegun?: true;
}

/** A step that an ADD passed over, because its rule says that its failure does not fail the chain. */
export interface PassedOverStep {
  /** Position in the list's `plugins`. */
  readonly step: number;
  /** True if the step's DEL succeeded after the failure, so that nothing of the step is left. */
  readonly cleaned: boolean;
  readonly code: number;
  readonly msg: string;
}

/** The record of a step that is passed over after this fault. */
export function passedOverStepOf(step: number, { code, msg }: Fault, cleaned: boolean): PassedOverStep {
  return { step, cleaned, code, msg: msg.slice(0, maxMessage) };
}

/** Maximum length of a stored message, in UTF-16 units. */
const maxMessage = 300;
/** CNI error code 11 (section 5): the plugin may succeed later. */
const tryAgainLater = 11;

/** Kinds by which a plugin, or the host before it ran, reported an error. A plugin that hung, crashed or trapped may have attached something. */
const reported: ReadonlySet<FaultKind> = new Set([
  "PLUGIN_FAILED",
  "DELEGATE_FAILED",
  "VERSION_UNSUPPORTED",
  "CONFIG_INVALID",
  "PLUGIN_NOT_FOUND",
  "PLUGIN_NOT_STARTABLE",
  "COMPONENT_REFUSED",
  "CAPABILITY_NOT_GRANTED",
  "NOT_GRANTED",
  "DIRECTORY_NOT_ALLOWED",
  "SYSCTL_NOT_ALLOWED",
]);

/** The step that failed in ADD; undefined if the step may have attached something. */
export function failedStepOf(step: number, { kind, code, msg, notBegun }: Fault): FailedStep | undefined {
  if (notBegun === true) return { step, code, msg: msg.slice(0, maxMessage), notBegun };
  // libcni's message for a plugin that printed no error.
  const silent = kind === "PLUGIN_FAILED" && msg.startsWith("netplugin failed");
  if (!reported.has(kind) || silent || code === tryAgainLater) return undefined;
  return { step, code, msg: msg.slice(0, maxMessage) };
}

/** Whether a step that fails in DEL never succeeded in ADD: it did not run in ADD, or failed with the same error. */
export function mayPassOver(failedAdd: FailedStep | undefined, index: number, failure: Fault): boolean {
  if (failedAdd === undefined || index < failedAdd.step) return false;
  if (index > failedAdd.step) return true;
  const now = failedStepOf(index, failure);
  return now !== undefined && now.code === failedAdd.code && patternOf(now.msg) === patternOf(failedAdd.msg);
}

/** Whether neither ADD nor DEL began the step that fails in DEL now: there is nothing to undo. */
export function wasNeverBegun(failedAdd: FailedStep | undefined, index: number, failure: Fault): boolean {
  if (failedAdd === undefined || failure.notBegun !== true) return false;
  return index > failedAdd.step || (index === failedAdd.step && failedAdd.notBegun === true);
}

/** A message without the parts that differ between calls: numbers, and the verb's name. */
function patternOf(msg: string): string {
  return msg
    .replaceAll(/\b(?:add|delete|del)\b/giu, "VERB")
    .replaceAll(/\d+/gu, "0")
    .slice(0, maxMessage - "delete".length);
}
