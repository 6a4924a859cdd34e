// One run of a shadow: the changes that it would have made, and its requests that can't be simulated.

import type { IntendedValue } from "../../../src/step-policy/compare-shadow.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import type { LeaseSnapshot } from "../leases/lease-snapshot.ts";

/**
 * The capabilities that a shadow may have. `firewall`, `delegation` and `flows` cannot be simulated: their answers depend on rules, plugins and
 * packets that only a real run has.
 */
export const simulatedCapabilities: ReadonlySet<string> = new Set([
  "log",
  "leases",
  "resolver",
  "links",
  "sysctl",
  "announce",
  "state",
  "ovs",
  "routing",
]);

/** The fault of a component whose capabilities cannot all be simulated; undefined if they can. */
export function shadowRefusal(type: string, capabilities: readonly string[]): Fault | undefined {
  const others = capabilities.filter((name) => !simulatedCapabilities.has(name));
  if (others.length === 0) return undefined;
  return fault("SHADOW_UNSUPPORTED", `${type} can't run as a shadow: ${others.join(" and ")} can't be simulated`);
}

/** Maximum values and kinds of requests that are noted: a component may repeat a request until its time ends. */
const maxValues = 1000;
const maxUnsupported = 10;

/** The record of one run. The bound capabilities write into it. */
export class DryRun {
  readonly #values: IntendedValue[] = [];
  readonly #unsupported = new Set<string>();
  #isCut = false;
  /** The leases before the native step; undefined if the shadow has no leases. */
  readonly leases: LeaseSnapshot | undefined;
  #ended = false;

  constructor(leases: LeaseSnapshot | undefined) {
    this.leases = leases;
  }

  /** True once the result is taken: a late request reads nothing any more. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The values that the shadow would have set, with the actual ones. */
  get values(): readonly IntendedValue[] {
    return this.#values;
  }

  /** Requests that were answered with a fault because they can't be simulated, each once. */
  get unsupported(): readonly string[] {
    return [...this.#unsupported];
  }

  end(): void {
    this.#ended = true;
  }

  /** Whether the shadow made more changes than are noted, so that the run cannot be compared. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Notes a value that the shadow would have set. */
  intend(value: IntendedValue): void {
    if (this.#values.length < maxValues) this.#values.push(value);
    else this.#isCut = true;
  }

  /** Notes a request that can't be simulated, and makes its fault. */
  refuse(type: string, request: string): Fault {
    if (this.#unsupported.size < maxUnsupported) this.#unsupported.add(request);
    return fault("SHADOW_UNSUPPORTED", `${type} runs as a shadow, and ${request} can't be simulated`);
  }
}
