// The trace: one line of JSON for each step, for people who ask what ran, as what, how long, and how it ended.

import type { Verb } from "../../src/cni/environment.ts";
import type { StepOutcome } from "../../src/cni/chain-step.ts";
import { appendLines } from "../files/regular-file.ts";

export type StepKind = "native" | "wasm";

/** What is known of a step before it ran. */
export interface TracedStep {
  readonly containerId: string;
  readonly network: string;
  readonly ifname: string;
  readonly verb: Verb;
  readonly type: string;
  readonly kind: StepKind;
  /** True for a call that a native plugin made on its own (its `ipam.type`). */
  readonly nested: boolean;
}

export interface Trace {
  /** Notes a step that took `ms` milliseconds. Never fails: a trace must not break an attachment. */
  readonly step: (step: TracedStep, ms: number, outcome: StepOutcome) => void;
}

/** A trace that is longer waits for the administrator to move it away. */
const mostBytes = 64 * 1024 * 1024;

/** A trace that appends to a file; without a path, one that keeps nothing. `warn` hears once a call why it can't be written. */
export function openTrace(path: string | undefined, now: () => Date, warn: (text: string) => void): Trace {
  if (path === undefined) return { step: () => undefined };
  let warned = false;
  return {
    step(step, ms, outcome) {
      const line = {
        time: now().toISOString(),
        ...step,
        ms: Math.round(ms * 1000) / 1000,
        ...(outcome.ok ? { ok: true } : { ok: false, code: outcome.fault.code, msg: outcome.fault.msg }),
      };
      try {
        appendLines(path, `${JSON.stringify(line)}\n`, { most: mostBytes, foreign: false, create: true });
      } catch (error) {
        // The pod keeps its network.
        if (!warned) warn(`no trace: ${error instanceof Error ? error.message : String(error)}`);
        warned = true;
      }
    },
  };
}
