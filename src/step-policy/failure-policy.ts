// The meaning of a failed step for its chain, by the administrator's rule for its plugin type.

import type { Verb } from "../cni/environment.ts";
import type { StepRule } from "../configuration/step-rules.ts";
import type { FaultKind } from "../fault/catalogue.ts";
import type { Fault } from "../fault/fault.ts";

/** A failed step of a chain. */
export interface StepFailure {
  readonly verb: Verb;
  /** Position in the list's `plugins`. */
  readonly index: number;
  readonly fault: Fault;
  /** Number of tries that have failed; 1 after the first. */
  readonly tries: number;
}

/**
 * `fail`: the fault counts, as without a rule. `retry`: the step runs again. `pass-over`: the chain goes on as if the step were not in the
 * list. `go-on`: the chain goes on, and the fault is reported at its end.
 */
export type Decision = "fail" | "retry" | "pass-over" | "go-on";

/** The verbs whose steps are tried again. A runtime asks for STATUS every few seconds and repeats GC, so their answer must not wait. */
const retriedVerbs: ReadonlySet<Verb> = new Set(["ADD", "DEL", "CHECK"]);

/** Kinds of fault in which the code is the plugin's own. Time-outs and refusals of the host have codes, too, but are not tried again. */
const pluginKinds: ReadonlySet<FaultKind> = new Set(["PLUGIN_FAILED", "DELEGATE_FAILED"]);

/** The first pause before a further try, and the longest one, in milliseconds. Each pause is twice as long as the one before. */
const firstPauseMs = 200;
const maxPauseMs = 5000;

/** Decides about a failed step. A step that never ran for the attachment's sake (VERSION) always fails. */
export function decide({ failure, retries, retryOn }: StepRule, { verb, index, fault, tries }: StepFailure): Decision {
  if (failure === "retry") {
    const isListed = pluginKinds.has(fault.kind) && retryOn.includes(fault.code);
    return isListed && tries <= retries && retriedVerbs.has(verb) ? "retry" : "fail";
  }
  if (failure === "closed" || isFirst(index)) return "fail";
  switch (verb) {
    case "ADD":
    case "CHECK":
    case "STATUS":
      return "pass-over";
    case "DEL":
      return "go-on";
    // GC runs every step and reports every fault, so that no leak stays unknown.
    default:
      return "fail";
  }
}

/** Milliseconds before the next try. */
export function retryPauseMs(tries: number): number {
  return Math.min(maxPauseMs, firstPauseMs * 2 ** (tries - 1));
}

/** Why `open` does not hold for the step; undefined if the step's rule is not `open`, or holds. */
export function whyNotOpen({ failure }: StepRule, index: number, type: string): string | undefined {
  if (failure !== "open" || !isFirst(index)) return undefined;
  return (
    `The failure policy "open" of ${type} does not hold for the first plugin of a list: ` +
    `the first plugin makes the pod's interface and gets its addresses, so without it there is no attachment.`
  );
}

function isFirst(index: number): boolean {
  return index === 0;
}
