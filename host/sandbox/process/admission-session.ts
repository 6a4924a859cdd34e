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
}

/**
 * Milliseconds of computing time of one admission. Within its budget of work (binary/work-budget.ts) an admission needs less than a second, also
 * on a slow machine.
 */
export const admissionMs = 3_000;
/** Milliseconds of an admission, including waits for a CPU. */
export const admissionDeadlineMs = 15_000;

/** The result of an admission in a sandbox process. */
export interface AdmissionOutcome {
  readonly result: Result<ExaminedComponent>;
  /** Whether the same bytes always have this result. False for the faults of a busy node or a lost process. */
  readonly isFinal: boolean;
}

/** One admission. Its time runs from its construction on. */
export class AdmissionSession {
  readonly outcome: Promise<AdmissionOutcome>;
  private readonly settleWith: (outcome: AdmissionOutcome) => void;
  private readonly cpuMs: () => number | undefined;
  private readonly kill: (reason: string) => void;
  private readonly startedAt = performance.now();
  private readonly startedCpuMs: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** `cpuMs` is the process' CPU time; `kill` ends the process, because its time has passed. */
  constructor(cpuMs: () => number | undefined, kill: (reason: string) => void) {
    ({ promise: this.outcome, resolve: this.settleWith } = Promise.withResolvers<AdmissionOutcome>());
    this.cpuMs = cpuMs;
    this.kill = kill;
    this.startedCpuMs = cpuMs();
    this.setTimer(admissionMs);
  }

  /** Takes the process' answer, and answers whether the process has loaded the component. Throws NonConforming. */
  receive(frame: Frame): boolean {
    if (frame.type !== frameTypes.ADMITTED) throw new NonConforming(`a frame of type ${frame.type}`);
    const result = readReport(frame);
    this.settle({ result, isFinal: true });
    return result.ok;
  }

  /** The process ended or broke the protocol; `reason` says why. */
  lost(reason: string): void {
    this.fail("SANDBOX_UNAVAILABLE", `the component's admission failed: ${reason}`, false);
  }

  private setTimer(milliseconds: number): void {
    this.timer = setTimeout(() => this.onTimer(), Math.max(1, Math.ceil(milliseconds)));
  }

  /** Grants further time to a process that got no CPU. */
  private onTimer(): void {
    const wallMs = performance.now() - this.startedAt;
    const now = this.cpuMs();
    const usedMs = now === undefined || this.startedCpuMs === undefined ? wallMs : now - this.startedCpuMs;
    if (usedMs >= admissionMs)
      this.fail("COMPONENT_REFUSED", `component refused: its admission took more than ${admissionMs} ms of computing time`, true);
    else if (wallMs >= admissionDeadlineMs)
      this.fail("SANDBOX_UNAVAILABLE", `the component's admission did not end within ${admissionDeadlineMs} ms`, false);
    else {
      this.setTimer(Math.min(admissionMs - usedMs, admissionDeadlineMs - wallMs));
      return;
    }
    this.kill("was ended because the admission of its component took too long");
  }

  private fail(kind: FaultKind, message: string, isFinal: boolean): void {
    this.settle({ result: failed(fault(kind, message)), isFinal });
  }

  private settle(outcome: AdmissionOutcome): void {
    clearTimeout(this.timer);
    this.settleWith(outcome);
  }
}
