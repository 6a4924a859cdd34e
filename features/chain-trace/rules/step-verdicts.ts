// The verdicts that follow from a step's outcome and from the answers of its imports: limits, grants, time, admission.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import type { ComponentRecord, StepVerdict, TracedOutcome } from "../../../src/chain-trace/chain-trace.ts";
import { isJsonObject } from "../../../src/json/document.ts";

const kinds: Readonly<Partial<Record<FaultKind, string>>> = {
  CALL_TIMEOUT: "deadline",
  PLUGIN_TIMEOUT: "deadline",
  NOT_GRANTED: "grant",
  CAPABILITY_NOT_GRANTED: "grant",
  CAPABILITY_MISUSED: "grant",
  DIRECTORY_NOT_ALLOWED: "grant",
  SYSCTL_NOT_ALLOWED: "grant",
  COMPONENT_REFUSED: "admission",
  COMPONENT_DIGEST_DIFFERS: "admission",
  COMPONENT_REQUIREMENT_UNMET: "admission",
  SIGNATURE_MISSING: "admission",
  SIGNATURE_INVALID: "admission",
  SIGNATURE_KEY_UNUSABLE: "admission",
  WASM_DISABLED: "switch",
};
const kindByName = new Map<string, string>(Object.entries(kinds));

/** The verdicts. A text is the fault's message, one sentence. */
export function verdictsOf(
  outcome: TracedOutcome,
  component: Pick<ComponentRecord, "calls"> | undefined,
): readonly StepVerdict[] {
  const found: StepVerdict[] = [];
  for (const { capability, func, answer } of component?.calls ?? []) {
    const reason = isJsonObject(answer) ? answer["err"] : undefined;
    if (!isJsonObject(reason)) continue;
    const { msg, details } = reason;
    const kind = verdictOf(kindIn(details));
    if (kind !== undefined && typeof msg === "string") found.push({ kind, text: `${capability}.${func}: ${msg}` });
  }
  const kind = outcome.ok ? undefined : verdictOf(outcome.fault.kind);
  return outcome.ok || kind === undefined ? found : [...found, { kind, text: outcome.fault.msg }];
}

function verdictOf(faultKind: string): string | undefined {
  if (faultKind.startsWith("LIMIT_")) return "limit";
  return kindByName.get(faultKind);
}

/** The kind of a fault, with which its details end (`fault()` of src/fault/fault.ts). */
function kindIn(details: unknown): string {
  return (typeof details === "string" ? /\[([A-Z_]{1,64})\]$/.exec(details)?.[1] : undefined) ?? "";
}
