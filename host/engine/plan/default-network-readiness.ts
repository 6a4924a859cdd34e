// The readiness of the default network. The network's node agent (for example calico-node) creates a file when the network is ready
// (MC-12, N1-58 to N1-61).

import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Call } from "../call.ts";

/** Interval in ms of the reads of the file. */
const pollMs = 50;

/**
 * Checks once whether the default network is ready. STATUS does not wait, because a runtime takes a slow answer for a broken node
 * (RT-04). Fault: NETWORK_NOT_READY.
 */
export function requireReady({ configuration }: Pick<Call, "configuration">): Result<void> {
  const { readinessindicatorfile: file } = configuration;
  if (file === undefined || existsSync(file)) return ok(undefined);
  return failed(fault("NETWORK_NOT_READY", `the default network isn't ready: its readiness file ${file} does not exist`));
}

/**
 * Waits until the default network is ready, within the configured bound of ADD or DEL (D-07). After that an ADD fails with
 * NETWORK_NOT_READY, and a DEL warns and goes on, because the journal has all that it needs.
 */
export async function waitUntilReady(
  call: Pick<Call, "request" | "configuration" | "deadline" | "clock" | "warn">,
): Promise<Result<void>> {
  const { request, configuration, deadline, clock, warn } = call;
  const { readinessindicatorfile: file, readinessTimeoutMs: addMs, readinessDelTimeoutMs: delMs } = configuration;
  if (file === undefined || (request.verb !== "ADD" && request.verb !== "DEL")) return ok(undefined);
  const maxWaitMs = Math.min(request.verb === "ADD" ? addMs : delMs, Math.floor(deadline.stepMs));
  const started = clock.now();
  while (!existsSync(file)) {
    if (clock.now() - started < maxWaitMs) {
      await setTimeout(pollMs);
      continue;
    }
    const why = `the default network isn't ready: its readiness file ${file} did not appear within ${maxWaitMs} ms`;
    if (request.verb === "ADD") return failed(fault("NETWORK_NOT_READY", why));
    warn(`${why}; this DEL goes on without waiting further`);
    break;
  }
  return ok(undefined);
}
