// A delegate's call in our own sandbox: its admission, its linker and its glue, without what the host does to texts.

import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { CompiledComponents } from "../../../host/sandbox/compile.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { callGuest } from "../../../host/sandbox/linker/call.ts";
import type { Outcome, RunDelegate, SuccessRecord } from "./records.ts";

const admission = new Admission();
const compiled = new CompiledComponents();

/** Runs a delegate in the sandbox, all capabilities granted. A limit, a trap or a refusal rejects, as in the oracle. */
export const runInSandbox: RunDelegate = async (bytes, { verb, request }, capabilities) => {
  const admitted = admission.admit(bytes, { granted: Object.keys(capabilities), limits: defaultLimits });
  if (!admitted.ok) throw new Error(admitted.fault.msg);
  const callable = compiled.get(admitted.value.key) ?? compiled.add(admitted.value);
  const outcome = callGuest(callable, { verb, request, limits: defaultLimits, deadlineMs: 60_000 }, (capability, name, args) => {
    const found: unknown = Reflect.get(Reflect.get(capabilities, capability), name);
    if (typeof found !== "function") throw new Error(`no ${capability}.${name}`);
    return Reflect.apply(found, undefined, args);
  });
  if (outcome.kind === "broken") throw new Error(`${outcome.fault}: ${outcome.message}`);
  return outcome.answer as Outcome<SuccessRecord | undefined>;
};
