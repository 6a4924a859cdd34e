// The JSON of the frames that the engine and an examined component's process trust. The engine reads IMPORT, LOG and OUTCOME of a guest as
// unknown values (guest-sessions.ts).

import type { ExaminedComponent } from "../admission/examine.ts";
import type { Limits, ModuleLimits } from "../limits.ts";
import type { LinkPlan } from "../linker/plan.ts";

/** ADMIT: examines the component whose bytes follow the JSON, and loads it under `key`. The answer is ADMITTED. */
export interface AdmitMessage {
  readonly key: string;
  readonly limits: ModuleLimits;
}

/** ADMITTED: the examined component, whose core modules follow the JSON (`sizes` are their lengths in bytes), or the reason of its refusal. */
export type AdmittedMessage =
  | { readonly refused: { readonly fault: string; readonly message: string } }
  | (Omit<ExaminedComponent, "modules"> & { readonly sizes: readonly number[] });

/** LOAD: a component. Its core modules follow the JSON; `sizes` are their lengths in bytes. */
export interface LoadMessage {
  readonly key: string;
  readonly plan: LinkPlan;
  readonly sizes: readonly number[];
}

/**
 * CALL: runs a verb. The answer is OUTCOME, or UNKNOWN if the component is not loaded. Frames of other calls may come in between if all calls
 * are of one component whose imports may wait (linker/may-wait.ts).
 */
export interface CallMessage {
  readonly key: string;
  readonly verb: string;
  readonly request: unknown;
  readonly limits: Limits;
  /** Milliseconds for the whole call. The process also ends the guest at this deadline, in case the engine is gone. */
  readonly deadlineMs: number;
  /** Imported capabilities that are not granted for this call. Absent: none. */
  readonly ungranted?: readonly string[] | undefined;
}

/** ANSWER: the capability's answer. ABANDON (without content) replaces it if the call was abandoned; the guest then ends. */
export interface AnswerMessage {
  readonly value: unknown;
}
