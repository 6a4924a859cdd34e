// The imports of a delegate call that are not answered yet. A guest can end before its import does. The import's work then goes on,
// and the step must not be undone before that work ends.

import { ShimGone } from "../../protocol/shim.ts";
import type { CapabilityImports } from "../../sandbox/runner.ts";

/** Tracks the imports of one delegate call. */
export class PendingImports {
  readonly #pending = new Set<Promise<unknown>>();
  #gone: ShimGone | undefined;

  /** The same capabilities. A promise that one of their functions returns counts as pending until it settles. */
  watched(imports: CapabilityImports): CapabilityImports {
    const watched: Record<string, object> = {};
    for (const [name, capability] of Object.entries<object>(imports)) watched[name] = this.#watchedCapability(capability);
    return watched;
  }

  /** Waits for all pending imports. Throws the ShimGone of an import, because the guest receives another fault in its place. */
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
      if (error instanceof ShimGone) this.#gone ??= error;
    };
    answer.then(() => forget(), forget);
  }
}
