// Turns what came of a call into a result: the delegate's own error, a fault of the catalogue, or a typed success.

import type { FaultKind } from "../../src/fault/catalogue.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { conform, NonConforming } from "./abi/conform.ts";
import { abiVersions } from "./abi/versions.ts";
import { inertLine, inertText } from "./inert-text.ts";
import type { AdmittedComponent } from "./admission/admit.ts";
import type { CallOutcome } from "./linker/call.ts";
import type { GuestSuccess, Verb } from "./runner.ts";

const longestMessage = 1024;
const longestDetails = 16 * 1024;

/** A fault of the host's: `message` continues "delegate x …". */
export function hostFault(component: AdmittedComponent, verb: string, kind: FaultKind, message: string): Result<never> {
  return failed(fault(kind, `delegate ${component.declaration.name} (${verb}) ${inertLine(message, longestMessage)}`));
}

/** The result of a call, its values checked against the ABI's types once more: they may come from another process. */
export function resultOf<V extends Verb>(component: AdmittedComponent, verb: V, outcome: CallOutcome): Result<GuestSuccess<V>> {
  if (outcome.kind === "broken") return hostFault(component, verb, outcome.fault, outcome.message);
  const model = abiVersions[component.plan.abi]?.model;
  const type = model?.interfaces["plugin"]?.functions[verb]?.result;
  if (model === undefined || type === undefined) return hostFault(component, verb, "INTERNAL", "has no such verb");
  try {
    const answer = conform(model, type, outcome.answer);
    if (isFailure(answer)) return ownFault(component, answer.err);
    if (isSuccess<V>(answer)) return ok({ value: answer.ok, report: outcome.report });
    return hostFault(component, verb, "INTERNAL", "answered no result");
  } catch (error) {
    if (error instanceof NonConforming)
      return hostFault(component, verb, "ABI_VIOLATED", `answered what the ABI does not allow: ${error.message}`);
    throw error;
  }
}

interface OwnError {
  readonly code: number;
  readonly msg: string;
  readonly details?: string | undefined;
}

// `conform` has built these by the model, so that the key decides the type.
function isFailure(answer: unknown): answer is { readonly err: OwnError } {
  return typeof answer === "object" && answer !== null && "err" in answer;
}

function isSuccess<V extends Verb>(answer: unknown): answer is { readonly ok: GuestSuccess<V>["value"] } {
  return typeof answer === "object" && answer !== null && "ok" in answer;
}

// A delegate's own code is passed on, unless CNI has no room for it: 0 is no error, and runtimes read signed numbers.
function ownFault(component: AdmittedComponent, own: OwnError): Result<never> {
  const code = own.code >= 1 && own.code <= 0x7fff_ffff ? own.code : 999;
  const msg = inertLine(own.msg, longestMessage);
  const details = inertText(own.details ?? "", longestDetails);
  return failed(
    fault("DELEGATE_FAILED", msg === "" ? `delegate ${component.declaration.name} failed without saying why` : msg, {
      code,
      details,
    }),
  );
}
