// Converts the outcome of a guest's call into a result: a typed success, the delegate's own error, or a fault of the catalogue.

import type { FaultKind } from "../../src/fault/catalogue.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { conform, NonConforming } from "./abi/conform.ts";
import { abiVersions } from "./abi/versions.ts";
import { inertLine, inertText } from "../../src/text/inert-text.ts";
import type { AdmittedComponent } from "./admission/admit.ts";
import type { CallOutcome } from "./linker/call.ts";
import type { GuestSuccess, Verb } from "./runner.ts";

const maxMessageLength = 1024;
const maxDetailsLength = 16 * 1024;

/** A fault with a message that begins with the delegate and the verb; `message` continues "delegate x (verb) …". `lastLines`: the guest's text for the details. */
export function hostFault(
  component: AdmittedComponent,
  verb: string,
  kind: FaultKind,
  message: string,
  lastLines = "",
): Result<never> {
  const details = inertText(lastLines, maxDetailsLength);
  return failed(
    fault(kind, `delegate ${component.declaration.name} (${verb}) ${inertLine(message, maxMessageLength)}`, { details }),
  );
}

/**
 * The result of a call. Its values are checked against the ABI's types once more, because they may come from another process. Faults:
 * the outcome's, DELEGATE_FAILED for the delegate's own error, ABI_VIOLATED.
 */
export function resultOf<V extends Verb>(component: AdmittedComponent, verb: V, outcome: CallOutcome): Result<GuestSuccess<V>> {
  if (outcome.kind === "broken") return hostFault(component, verb, outcome.fault, outcome.message, outcome.lastLines);
  const model = abiVersions[component.plan.abi]?.model;
  const type = model?.interfaces["plugin"]?.functions[verb]?.result;
  if (model === undefined || type === undefined) return hostFault(component, verb, "INTERNAL", "has no such verb");
  try {
    const answer = conform(model, type, outcome.answer);
    if (isFailure(answer)) return delegateFault(component, answer.err);
    if (isSuccess<V>(answer)) return ok({ value: answer.ok, report: outcome.report });
    return hostFault(component, verb, "INTERNAL", "gave no result");
  } catch (error) {
    if (error instanceof NonConforming)
      return hostFault(component, verb, "ABI_VIOLATED", `gave a result that the ABI does not allow: ${error.message}`);
    throw error;
  }
}

interface DelegateError {
  readonly code: number;
  readonly msg: string;
  readonly details?: string | undefined;
}

// `conform` has built the value by the model, so the key determines the type.
function isFailure(answer: unknown): answer is { readonly err: DelegateError } {
  return typeof answer === "object" && answer !== null && "err" in answer;
}

function isSuccess<V extends Verb>(answer: unknown): answer is { readonly ok: GuestSuccess<V>["value"] } {
  return typeof answer === "object" && answer !== null && "ok" in answer;
}

// A delegate's own code is passed on if CNI allows it: 0 means no error, and runtimes read signed 32-bit numbers.
function delegateFault(component: AdmittedComponent, error: DelegateError): Result<never> {
  const code = error.code >= 1 && error.code <= 0x7fff_ffff ? error.code : 999;
  const msg = inertLine(error.msg, maxMessageLength);
  const details = inertText(error.details ?? "", maxDetailsLength);
  return failed(
    fault("DELEGATE_FAILED", msg === "" ? `delegate ${component.declaration.name} failed without an error message` : msg, {
      code,
      details,
    }),
  );
}
