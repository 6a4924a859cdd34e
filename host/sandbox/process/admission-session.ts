// The engine's side of one admission in a sandbox process.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, type Result } from "../../../src/fault/result.ts";
import { NonConforming } from "../abi/conform.ts";
import type { ExaminedComponent } from "../admission/examine.ts";
import type { Limits } from "../limits.ts";
import { readReport } from "./admission-report.ts";
import { frameTypes, type Frame } from "./frames.ts";

/** A component that a process must examine. */
export interface AdmissionRequest {
  /** Names the component and the limits that its modules contain. */
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly limits: Limits;
  /** Whether this version admitted the component before; asked only when the time limit has passed. */
  readonly wasAdmitted?: () => boolean;
}

/**
 * Milliseconds of an admission, including waits for a CPU: so many times its computing time, within these bounds. Within its budget of work
 * (binary/work-budget.ts) an admission needs less than a second of computing time.
 */
const deadlineFactor = 5;
export const leastAdmissionDeadlineMs = 15_000;
/** A component that was admitted before gets so many times as long. */
const factorOfAdmitted = 4;

/** The result of an admission in a sandbox process. */
export interface AdmissionOutcome {
  readonly result: Result<ExaminedComponent>;
  /** Whether the same bytes always have this result. False for the faults of a busy node or a lost process. */
  readonly isFinal: boolean;
  /** Whether the result depends on `limits.admissionMs`. */
  readonly isTimeLimit: boolean;
  /** Computing time of the admission in ms; undefined if the kernel does not report it. */
  readonly cpuMs: number | undefined;
}

/** One admission. Its time runs from its construction on. */
export class AdmissionSession {
  readonly outcome: Promise<AdmissionOutcome>;
  readonly #settleWith: (outcome: AdmissionOutcome) => void;
  readonly #cpuMs: () => number | undefined;
  readonly #kill: (reason: string) => void;
  readonly #limitMs: number;
  readonly #wasAdmitted: () => boolean;
  #deadlineMs: number;
  /** Whether the time limit is lifted, because the component was admitted before. */
  #isKnown = false;
  readonly #startedAt = performance.now();
  readonly #startedCpuMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `cpuMs` is the process' CPU time; `kill` ends the process, because its time has passed. */
  constructor(
    {
      limits,
      wasAdmitted = () => false,
    }: Pick<AdmissionRequest, "wasAdmitted"> & { readonly limits: Pick<Limits, "admissionMs"> },
    cpuMs: () => number | undefined,
    kill: (reason: string) => void,
  ) {
    this.#limitMs = limits.admissionMs;
    this.#wasAdmitted = wasAdmitted;
    this.#deadlineMs = Math.max(leastAdmissionDeadlineMs, deadlineFactor * this.#limitMs);
    ({ promise: this.outcome, resolve: this.#settleWith } = Promise.withResolvers<AdmissionOutcome>());
    this.#cpuMs = cpuMs;
    this.#kill = kill;
    this.#startedCpuMs = cpuMs();
    this.#setTimer(this.#limitMs);
  }

  /** Takes the process' answer, and answers whether the process has loaded the component. Throws NonConforming. */
  receive(frame: Frame): boolean {
    if (frame.type !== frameTypes.ADMITTED) throw new NonConforming(`a frame of type ${frame.type}`);
    const result = readReport(frame);
    this.#settle({ result, isFinal: true, isTimeLimit: false });
    return result.ok;
  }

  /** The process ended or broke the protocol; `reason` says why. */
  lost(reason: string): void {
    this.#fail("SANDBOX_UNAVAILABLE", `the component's admission failed: ${reason}`, false);
  }

  #setTimer(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#onTimer(), Math.max(1, Math.ceil(milliseconds)));
  }

  /**
   * Only computing time decides about a component: a busy node makes an admission late, and the next call tries again. A component that was
   * admitted before is not refused at all, because a slow or busy node may need more computing time than yesterday.
   */
  #onTimer(): void {
    const wallMs = performance.now() - this.#startedAt;
    const usedMs = this.#usedMs() ?? 0;
    if (!this.#isKnown && usedMs >= this.#limitMs) {
      this.#isKnown = this.#wasAdmitted();
      if (!this.#isKnown) {
        const why = `its admission took more than ${this.#limitMs} ms of computing time (wasm.limits.admissionMs)`;
        this.#fail("COMPONENT_REFUSED", `component refused: ${why}`, true);
        this.#kill("was ended because the admission of its component took too long");
        return;
      }
      this.#deadlineMs *= factorOfAdmitted;
    }
    if (wallMs < this.#deadlineMs) {
      const untilDeadlineMs = this.#deadlineMs - wallMs;
      // Without a computing time, nothing but the deadline counts.
      const untilLimitMs = this.#isKnown || this.#usedMs() === undefined ? untilDeadlineMs : this.#limitMs - usedMs;
      this.#setTimer(Math.min(untilLimitMs, untilDeadlineMs));
      return;
    }
    this.#fail("SANDBOX_UNAVAILABLE", `the component's admission did not end within ${this.#deadlineMs} ms`, false);
    this.#kill("was ended because the admission of its component took too long");
  }

  #usedMs(): number | undefined {
    const now = this.#cpuMs();
    return now === undefined || this.#startedCpuMs === undefined ? undefined : now - this.#startedCpuMs;
  }

  #fail(kind: FaultKind, message: string, isTimeLimit: boolean): void {
    this.#settle({ result: failed(fault(kind, message)), isFinal: isTimeLimit, isTimeLimit });
  }

  #settle(outcome: Omit<AdmissionOutcome, "cpuMs">): void {
    clearTimeout(this.#timer);
    this.#settleWith({ ...outcome, cpuMs: this.#usedMs() });
  }
}
