// Reports the calls that a component makes to its capabilities, with their answers.

import type { Step } from "../../capabilities/step.ts";
import type { CapabilityImports } from "../../sandbox/runner.ts";

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
