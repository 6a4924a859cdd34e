// The imports of a call that are still being answered. A guest may be ended while one is: what it asked for goes on then, and whoever
// undoes the step must not begin before that has ended.

import { HandsGone } from "../hands/hands.ts";
import type { CapabilityImports } from "../sandbox/runner.ts";

export class PendingImports {
  readonly #pending = new Set<Promise<unknown>>();
  #gone: HandsGone | undefined;

  /** The same capabilities, each answer that comes later taken note of. */
  watched(imports: CapabilityImports): CapabilityImports {
    const watched: Record<string, object> = {};
    for (const [name, capability] of Object.entries<object>(imports)) watched[name] = this.#watchedCapability(capability);
    return watched;
  }

  /** When nothing is being answered any more. Throws HandsGone where an import met that: the guest heard another failure. */
  async ended(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    if (this.#gone !== undefined) throw this.#gone;
  }

  #watchedCapability(capability: object): object {
    const watched: Record<string, unknown> = {};
    for (const name in capability) {
      const func: unknown = Reflect.get(capability, name);
      if (typeof func !== "function") continue;
      watched[name] = (...args: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(func, capability, args);
        if (answer instanceof Promise) this.#note(answer);
        return answer;
      };
    }
    return watched;
  }

  #note(answer: Promise<unknown>): void {
    this.#pending.add(answer);
    const forget = (error?: unknown): void => {
      this.#pending.delete(answer);
      if (error instanceof HandsGone) this.#gone ??= error;
    };
    answer.then(() => forget(), forget);
  }
}
