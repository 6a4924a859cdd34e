// The controls in force for the daemon's sandbox processes, for status, readiness and metrics.

import { type Control, controls as allControls, missingText } from "../sandbox/launcher/controls.ts";
import type { Metrics } from "./metrics/metrics.ts";

/** The isolation of a daemon's sandbox processes. */
export interface SandboxIsolation {
  readonly level: "process" | "strict";
  /** The controls that hold in the last process that started; undefined: no process has started. */
  readonly controls: ReadonlySet<Control> | undefined;
  /** The last start's failure. Continues "a sandbox process …". */
  readonly problem: string | undefined;
}

/** The controls that this node lacks; empty while it is unknown. */
export function missingControls({ controls }: SandboxIsolation): readonly Control[] {
  return controls === undefined ? [] : allControls.filter((control) => !controls.has(control));
}

/** The isolation in one line for a person. */
export function isolationSentence(isolation: SandboxIsolation): string {
  const { level, controls, problem } = isolation;
  if (problem !== undefined) return `level ${level}; a sandbox process ${problem}`;
  if (controls === undefined) return `level ${level}; no sandbox process has started yet`;
  const missing = missingControls(isolation);
  return missing.length === 0 ? `level ${level}; every control holds` : `level ${level}; missing: ${missingText(missing)}`;
}

/** Sets one series for each control: 1 if it holds. */
export function collectIsolation(metrics: Metrics, { controls }: SandboxIsolation): void {
  if (controls === undefined) return;
  for (const control of allControls) metrics.set("plexus_sandbox_control", { control }, controls.has(control) ? 1 : 0);
}
