// Records the calls that the configuration's key `chainTrace` wants.

import type { TracedCall } from "../../../src/chain-trace/chain-trace.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { CallRecording } from "../../../host/engine/events/call-events.ts";
import type { Clock } from "../../../host/system/clock.ts";
import { TraceRecording } from "./trace-recording.ts";
import { configuredTerms } from "./trace-terms.ts";

/** Begins the recording; undefined: the configuration does not want this call. Faults: those of `TraceRecording.begin`. */
export function recordConfigured(
  call: TracedCall,
  configuration: HostConfiguration,
  clock: Clock,
): Result<CallRecording | undefined> {
  const terms = configuredTerms(configuration, call);
  return terms === undefined ? ok(undefined) : TraceRecording.begin(call, terms, clock);
}
