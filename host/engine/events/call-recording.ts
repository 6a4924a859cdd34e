// The recording of a call by an optional feature: a subscriber that the call's session ends with the answer.

import type { TracedCall } from "../../../src/chain-trace/chain-trace.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { Reply } from "../../protocol/messages.ts";
import type { Clock } from "../../system/clock.ts";
import type { Subscriber } from "./call-events.ts";

/** The recording of one call. */
export interface CallRecording {
  readonly subscriber: Subscriber;
  /** Ends the recording with the call's answer. `ms`: the call's duration. Fault STORE_FAILED. */
  readonly end: (reply: Pick<Reply, "status" | "stdout">, ms: number) => Result<void>;
  /** Ends the recording of a call that has no answer. */
  readonly abandon: () => void;
}

/**
 * Begins to record a call that the configuration or an administrator's request selects. Undefined: neither selects the call, and no code of a
 * recorder is loaded. NOT_AVAILABLE if too many calls are being recorded, and the faults of the place.
 */
export type RecordCall = (
  call: TracedCall,
  configuration: HostConfiguration,
  clock: Clock,
) => Promise<Result<CallRecording | undefined>> | undefined;
