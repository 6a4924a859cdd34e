// Whether the default network is ready, as its agent tells by a file (MC-12, N1-58 to N1-61).

import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { CallContext } from "./call-context.ts";

/** Milliseconds between two looks. */
const pollMs = 50;

/** STATUS: at once, for a runtime takes a slow answer for a broken node (RT-04). Fault NETWORK_NOT_READY. */
export function readyNow({ configuration }: Pick<CallContext, "configuration">): Result<void> {
  const { file } = configuration.readiness;
  if (file === undefined || existsSync(file)) return ok(undefined);
  return failed(fault("NETWORK_NOT_READY", `the default network isn't ready: there is no ${file}`));
}

/** ADD and DEL: within their bounds (D-7). An ADD fails then; a DEL works on, from its journal, and says so. */
export async function waitUntilReady(
  context: Pick<CallContext, "call" | "configuration" | "deadline" | "now" | "warn">,
): Promise<Result<void>> {
  const { call, configuration, deadline, now, warn } = context;
  const { file, addMs, delMs } = configuration.readiness;
  if (file === undefined || (call.verb !== "ADD" && call.verb !== "DEL")) return ok(undefined);
  const patience = Math.min(call.verb === "ADD" ? addMs : delMs, Math.floor(deadline.stepMs));
  const started = now();
  while (!existsSync(file)) {
    if (now() - started < patience) {
      await sleep(pollMs);
      continue;
    }
    const why = `the default network isn't ready: there was no ${file} for ${patience} ms`;
    if (call.verb === "ADD") return failed(fault("NETWORK_NOT_READY", why));
    warn(`${why}; this DEL goes on without it`);
    break;
  }
  return ok(undefined);
}
