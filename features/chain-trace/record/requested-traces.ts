// The recording that an administrator asked the daemon for: bounded in count and time, with the directory's bounds on files and bytes.

import type { RecordingReport, RecordingRequest } from "../rules/recording-request.ts";
import { traceBounds } from "../../../src/configuration/chain-trace-configuration.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import type { Clock } from "../../../host/system/clock.ts";
import { isProbe, type TraceableCall, type TraceTerms } from "./trace-terms.ts";

interface Recording {
  readonly request: RecordingRequest;
  /** On the monotonic clock: a time of day that is set must not prolong the recording. */
  readonly endsAt: number;
  /** Traces that may still be written, and calls whose trace may follow. */
  left: number;
  readonly written: string[];
}

const maxListed = 100;

/** The recording of one daemon. A second request replaces the first one. */
export class RequestedTraces {
  readonly #directory: string;
  readonly #clock: Clock;
  #recording: Recording | undefined;

  constructor(directory: string, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Begins a recording. */
  begin(request: RecordingRequest): RecordingReport {
    const endsAt = this.#clock.now() + request.seconds * 1000;
    this.#recording = { request, endsAt, left: request.next, written: [] };
    return this.report();
  }

  /** Ends the recording. */
  end(): RecordingReport {
    const report = this.report();
    this.#recording = undefined;
    return { directory: report.directory, written: report.written };
  }

  report(): RecordingReport {
    if (this.#recording === undefined) return { directory: this.#directory, written: [] };
    const { request, endsAt, written } = this.#recording;
    const ended = this.#hasEnded(this.#recording);
    const until = new Date(this.#clock.date().getTime() + endsAt - this.#clock.now()).toISOString();
    return { directory: this.#directory, written: [...written], ...(ended ? {} : { request, until }) };
  }

  /** The terms on which a call is recorded; undefined: no recording wants the call. */
  terms({ verb, pod }: TraceableCall): TraceTerms | undefined {
    const recording = this.#recording;
    if (recording === undefined || this.#hasEnded(recording)) return undefined;
    const { request, written } = recording;
    if (request.pod !== undefined && (pod === undefined || !matchesPattern(request.pod, pod))) return undefined;
    const onlyFailed = request.onlyFailed || isProbe(verb);
    // A call that is written for certain counts when it begins, so that concurrent calls keep the bound.
    if (!onlyFailed) recording.left -= 1;
    return {
      directory: this.#directory,
      onlyFailed,
      maxFiles: traceBounds.maxFiles,
      maxBytes: traceBounds.maxMiB * 1024 * 1024,
      claim: () => {
        if (!onlyFailed) return true;
        if (recording.left <= 0) return false;
        recording.left -= 1;
        return true;
      },
      unwritten: () => void (recording.left += 1),
      written: (path) => {
        if (written.length < maxListed) written.push(path);
      },
    };
  }

  #hasEnded({ left, endsAt }: Recording): boolean {
    return left <= 0 || this.#clock.now() >= endsAt;
  }
}
