// The last failed calls, for `plexusctl status`: the pod, the error, and its remedy.

import { catalogue } from "../../src/fault/catalogue.ts";
import type { Failure } from "./status-document.ts";

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
