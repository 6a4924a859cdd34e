// The trace: one line of JSON for each step, for people who ask what ran, as what, how long, and how it ended.

import { appendFileSync } from "node:fs";
import type { Verb } from "../../src/cni/environment.ts";
import type { StepOutcome } from "../../src/cni/chain-step.ts";

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

/** A trace that appends to a file; without a path, one that keeps nothing. */
export function openTrace(path: string | undefined, now: () => Date): Trace {
  if (path === undefined) return { step: () => undefined };
  return {
    step(step, ms, outcome) {
      const line = {
        time: now().toISOString(),
        ...step,
        ms: Math.round(ms * 1000) / 1000,
        ...(outcome.ok ? { ok: true } : { ok: false, code: outcome.fault.code, msg: outcome.fault.msg }),
      };
      try {
        appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
      } catch {
        // The administrator sees an empty trace; the pod keeps its network.
      }
    },
  };
}
