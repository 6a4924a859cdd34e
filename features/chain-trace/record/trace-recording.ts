// The recording of one call: opens its directory, and writes the trace when the call has ended.

import { chainTraceText } from "../../../src/chain-trace/read-chain-trace.ts";
import type { TracedCall } from "../../../src/chain-trace/chain-trace.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { fault } from "../../../src/fault/fault.ts";
import { openTraceDirectory, traceFileName, writeTrace } from "../../../host/store/traces/trace-directory.ts";
import type { PluginAnswer } from "../../../host/protocol/messages.ts";
import type { CallRecording } from "../../../host/engine/events/call-events.ts";
import { newSpanId } from "../../../host/system/ids.ts";
import type { Clock } from "../../../host/system/clock.ts";
import { CallRecorder } from "./call-recorder.ts";
import type { TraceTerms } from "./trace-terms.ts";

/** Maximum calls that a process records at a time. Each may hold some MiB of texts. */
const maxRecorded = 16;

let recorded = 0;

/** The recording of one call. */
export class TraceRecording implements CallRecording {
  readonly subscriber: CallRecorder;
  readonly #terms: TraceTerms;
  readonly #call: TracedCall;
  readonly #time: Date;
  #isOpen = true;

  private constructor(call: TracedCall, terms: TraceTerms, { now, date }: Clock) {
    this.#call = call;
    this.#terms = terms;
    this.#time = date();
    this.subscriber = new CallRecorder(call, now, this.#time);
    recorded += 1;
  }

  /** Begins to record. Faults: those of the directory; NOT_AVAILABLE if too many calls are being recorded. */
  static begin(call: TracedCall, terms: TraceTerms, clock: Clock): Result<TraceRecording> {
    const opened =
      recorded < maxRecorded
        ? openTraceDirectory(terms.directory, clock)
        : failed(fault("NOT_AVAILABLE", `${maxRecorded} calls are being recorded; this call is not`));
    if (opened.ok) return ok(new TraceRecording(call, terms, clock));
    if (!terms.onlyFailed) terms.unwritten?.();
    return opened;
  }

  /** Ends the recording and writes the trace, if the terms want the call. `ms`: the call's duration. Fault STORE_FAILED. */
  end({ status, stdout }: PluginAnswer, ms: number): Result<void> {
    this.#close();
    const terms = this.#terms;
    if (terms.onlyFailed && (status === 0 || terms.claim?.() === false)) return ok(undefined);
    const text = typeof stdout === "string" ? stdout : new TextDecoder().decode(stdout);
    const trace = this.subscriber.trace({ status, stdout: text }, ms);
    const { verb, containerId, ifname } = this.#call;
    const unique = newSpanId().slice(0, 8);
    const name = traceFileName({ time: this.#time.toISOString(), verb, containerId, ifname, unique });
    const written = writeTrace(terms.directory, name, chainTraceText(trace), terms);
    if (written.ok) terms.written?.(written.value);
    else terms.unwritten?.();
    return written.ok ? ok(undefined) : written;
  }

  /** Ends the recording without a trace. */
  abandon(): void {
    if (this.#isOpen && !this.#terms.onlyFailed) this.#terms.unwritten?.();
    this.#close();
  }

  #close(): void {
    if (this.#isOpen) recorded -= 1;
    this.#isOpen = false;
  }
}
