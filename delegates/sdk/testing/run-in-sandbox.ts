// Runs a delegate's call in Plexus' sandbox: admission, linker and glue, without the host's conversion of texts.

import { versionFault } from "../../../host/engine/steps/delegate-request.ts";
import { Admission, type AdmittedComponent } from "../../../host/sandbox/admission/admit.ts";
import { CompiledComponents } from "../../../host/sandbox/compile.ts";
import { defaultLimits, type Limits } from "../../../host/sandbox/limits.ts";
import { type Callable, callGuest, type CallOutcome, callSuspendable } from "../../../host/sandbox/linker/call.ts";
import type { CapabilityCall } from "../../../host/sandbox/linker/link.ts";
import type { CapabilityFunctions, DelegateCall, Outcome, RunDelegate, SuccessRecord } from "./records.ts";

const admission = new Admission();
const compiled = new CompiledComponents();

/** Runs a delegate in the sandbox with the capabilities granted that its request names. A limit, a trap or a refusal rejects, as in the oracle. */
export const runInSandbox: RunDelegate = async (bytes, call, capabilities) =>
  runAdmitted(admittedWith(bytes, call.request.call.granted, defaultLimits), call, capabilities, defaultLimits);

/** Like `runInSandbox`, within these limits, and as a node does: a request in a CNI version that the delegate does not declare rejects without a call. */
export function runWithin(limits: Limits): RunDelegate {
  return async (bytes, call, capabilities) => {
    const admitted = admittedWith(bytes, call.request.call.granted, limits);
    const { declaration } = admitted;
    const refusal = versionFault(declaration.name, declaration, call.request.network.cniVersion);
    if (refusal !== undefined) throw new Error(`${refusal.kind}: ${refusal.msg}`);
    return runAdmitted(admitted, call, capabilities, limits);
  };
}

function runAdmitted(
  { callable, ungranted }: Admitted,
  { verb, request }: DelegateCall,
  capabilities: CapabilityFunctions,
  limits: Limits,
): Outcome<SuccessRecord | undefined> {
  return answerIn(callGuest(callable, { verb, request, limits, deadlineMs: 60_000, ungranted }, calling(capabilities)));
}

/** Like `runInSandbox`, with the delegate suspended at every import except the log's. */
export const runSuspended: RunDelegate = async (bytes, { verb, request }, capabilities) => {
  const { callable, ungranted } = admittedWith(bytes, request.call.granted, defaultLimits);
  const terms = { verb, request, limits: defaultLimits, deadlineMs: 60_000, ungranted };
  const atOnce = calling(capabilities);
  const later: CapabilityCall = (capability, name, args) => {
    const answer = atOnce(capability, name, args);
    return capability === "log" ? answer : new Promise((resolve) => setImmediate(() => resolve(answer)));
  };
  return answerIn(await callSuspendable(callable, terms, later).outcome);
};

/** A component that may be called. */
interface Admitted extends Pick<AdmittedComponent, "declaration"> {
  readonly callable: Callable;
  readonly ungranted: readonly string[] | undefined;
}

function admittedWith(bytes: Uint8Array, granted: readonly string[], limits: Limits): Admitted {
  const admitted = admission.admit(bytes, { granted, limits });
  if (!admitted.ok) throw new Error(admitted.fault.msg);
  const { key, ungranted, declaration } = admitted.value;
  return { callable: compiled.get(key) ?? compiled.add(admitted.value), ungranted, declaration };
}

function calling(capabilities: CapabilityFunctions): CapabilityCall {
  return (capability, name, args) => {
    const found: unknown = Reflect.get(Reflect.get(capabilities, capability), name);
    if (typeof found !== "function") throw new Error(`no ${capability}.${name}`);
    return Reflect.apply(found, undefined, args);
  };
}

function answerIn(outcome: CallOutcome): Outcome<SuccessRecord | undefined> {
  if (outcome.kind === "broken") throw new Error(`${outcome.fault}: ${outcome.message}`);
  return outcome.answer as Outcome<SuccessRecord | undefined>;
}
