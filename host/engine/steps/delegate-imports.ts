// The imports of a delegate call: those that are not answered yet, and the report of each call and answer for a trace. A guest can end before its
// import does. The import's work then goes on, and the step must not be undone before that work ends.

import type { Step } from "../../capabilities/step.ts";
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

type Tell = NonNullable<Step["tell"]>;

/** The same capabilities; each call and its answer is reported. Calls are numbered in their order; an answer may come later than the next call. */
export function toldImports(imports: CapabilityImports, tell: Tell): CapabilityImports {
  const told: Record<string, object> = {};
  const calls = { count: 0 };
  for (const [capability, functions] of Object.entries<object>(imports))
    told[capability] = toldFunctions(capability, functions, tell, calls);
  return told;
}

function toldFunctions(capability: string, functions: object, tell: Tell, calls: { count: number }): object {
  const told: Record<string, unknown> = {};
  for (const name in functions) {
    const func: unknown = Reflect.get(functions, name);
    if (typeof func !== "function") continue;
    told[name] = (...args: readonly unknown[]): unknown => {
      if (capability === "log") {
        tell({ what: "line-logged", line: args.map(String).join(": ") });
        return Reflect.apply(func, functions, args);
      }
      const call = ++calls.count;
      tell({ what: "import-began", call, capability, func: name, args });
      const ended = (value: unknown, failed: boolean): void => tell({ what: "import-ended", call, answer: value, failed });
      let answer: unknown;
      try {
        answer = Reflect.apply(func, functions, args);
      } catch (error) {
        ended(undefined, true);
        throw error;
      }
      // The answer of a synchronous capability stays synchronous, as guests of this process need it.
      if (!(answer instanceof Promise)) ended(answer, false);
      else
        answer.then(
          (value: unknown) => ended(value, false),
          () => ended(undefined, true),
        );
      return answer;
    };
  }
  return told;
}
