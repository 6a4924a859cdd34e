// The last failed calls, for `plexusctl status`: the pod, the error, and its remedy.

import { catalogue, type FaultKind } from "../../src/fault/catalogue.ts";

/** A failed call. */
export interface Failure {
  /** Time of the last failure, ISO 8601. */
  readonly time: string;
  /** The call's id in the log. */
  readonly request: string;
  readonly verb: string;
  /** `namespace/name`; empty if the runtime named no pod. */
  readonly pod: string;
  readonly container: string;
  readonly network: string;
  readonly fault: FaultKind;
  /** CNI error code. */
  readonly code: number;
  readonly msg: string;
  readonly remedy: string;
  /** Number of times that this call failed in this way: a runtime repeats a failed call. */
  readonly times: number;
}

const maxFailures = 50;

/** The last failures of one daemon. */
export class RecentFailures {
  readonly #failures: Failure[] = [];

  /** Adds a failure. A repeated one (same verb, container, network and fault) counts as one. */
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
    this.#failures.length = Math.min(this.#failures.length, maxFailures);
  }

  /** The failures, latest first. */
  list(): readonly Failure[] {
    return [...this.#failures];
  }
}
