// The last calls that failed, for people who ask what is wrong: which pod, what, and what to do about it.

import { catalogue, type FaultKind } from "../../src/fault/catalogue.ts";

export interface Failure {
  /** When it last happened, ISO 8601. */
  readonly time: string;
  /** The request's id in the log. */
  readonly request: string;
  readonly verb: string;
  /** `namespace/name`; empty where the runtime named no pod. */
  readonly pod: string;
  readonly container: string;
  readonly network: string;
  readonly fault: FaultKind;
  /** CNI's code. */
  readonly code: number;
  readonly msg: string;
  readonly remedy: string;
  /** How often in a row: a runtime repeats what fails. */
  readonly times: number;
}

const most = 50;

export class RecentFailures {
  readonly #failures: Failure[] = [];

  note(failure: Omit<Failure, "remedy" | "times">): void {
    const same = this.#failures.findIndex(
      (each) =>
        each.verb === failure.verb &&
        each.container === failure.container &&
        each.network === failure.network &&
        each.fault === failure.fault,
    );
    const times = same < 0 ? 1 : (this.#failures[same]?.times ?? 0) + 1;
    if (same >= 0) this.#failures.splice(same, 1);
    this.#failures.unshift({ ...failure, remedy: catalogue[failure.fault].remedy, times });
    this.#failures.length = Math.min(this.#failures.length, most);
  }

  /** The latest first. */
  list(): readonly Failure[] {
    return [...this.#failures];
  }
}
