// What the frames carry.

import type { Limits } from "../limits.ts";
import type { LinkPlan } from "../linker/plan.ts";

/** LOAD: a component; its core modules follow the JSON, `sizes` long each. */
export interface LoadMessage {
  readonly key: string;
  readonly plan: LinkPlan;
  readonly sizes: readonly number[];
}

/**
 * CALL: runs a verb. Answered by OUTCOME, or by UNKNOWN where the component is not loaded. Frames of other calls may come between
 * where all of them are of one component whose imports may wait (linker/may-wait.ts).
 */
export interface CallMessage {
  readonly key: string;
  readonly verb: string;
  readonly request: unknown;
  readonly limits: Limits;
  /** Milliseconds of the whole call: a process whose brain is gone ends the guest by itself. */
  readonly deadlineMs: number;
}

/** IMPORT: a guest waits for a capability's answer. */
export interface ImportMessage {
  readonly capability: string;
  readonly func: string;
  readonly args: readonly unknown[];
}

/** ANSWER: what the capability answered. ABANDON, in its place and without more: nobody waits for the call, its guest ends. */
export interface AnswerMessage {
  readonly value: unknown;
}

/** LOG: a line; nothing is answered. */
export interface LogMessage {
  readonly level: string;
  readonly message: string;
}

/** READY: the process is confined as far as it could be. */
export interface ReadyMessage {
  readonly uid: number;
  readonly gid: number;
}
