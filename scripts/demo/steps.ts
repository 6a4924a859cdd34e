// Reads the demo's steps from the engine's trace file.

import { readFileSync } from "node:fs";

export interface Step {
  readonly containerId: string;
  readonly network: string;
  readonly ifname: string;
  readonly verb: string;
  readonly type: string;
  readonly kind: string;
  readonly nested: boolean;
  readonly ms: number;
  readonly ok: boolean;
}

/** Every finished step, ordered by its end. An unfinished line is left out, because a call may be writing it. */
export function readSteps(path: string): readonly Step[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line): unknown => JSON.parse(line))
    .filter(isStep);
}

function isStep(value: unknown): value is Step {
  return typeof value === "object" && value !== null && "type" in value && "kind" in value && "ms" in value;
}
