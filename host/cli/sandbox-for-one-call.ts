// The sandbox of a one-shot brain; a chunk of its own, so that a call without a delegate doesn't load it.

import type { Sandbox } from "../brain/delegate-step.ts";
import { Admission } from "../sandbox/admission/admit.ts";
import { InProcessRunner } from "../sandbox/in-process.ts";

/** Admission and a runner for this call. */
export async function openSandbox(isolation: "process" | "in-process"): Promise<Sandbox> {
  const runner = isolation === "in-process" ? new InProcessRunner() : new InProcessRunner();
  return { admission: new Admission(), runner };
}
