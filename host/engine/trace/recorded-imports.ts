// Records the calls of a component's imports, with their answers.

import type { CapabilityImports } from "../../sandbox/runner.ts";

/** Receives what is recorded. Calls are announced in their order; an answer may come later. */
export interface ImportsSink {
  /** A call began. Answers the function that takes its end: its answer, or `failed` if the capability threw. */
  readonly call: (capability: string, func: string, args: readonly unknown[]) => (answer: unknown, failed: boolean) => void;
  /** A line of the log. */
  readonly log: (line: string) => void;
}

/** The same capabilities, with each call reported to `sink`. */
export function recordedImports(imports: CapabilityImports, sink: ImportsSink): CapabilityImports {
  const recorded: Record<string, object> = {};
  for (const [capability, functions] of Object.entries<object>(imports))
    recorded[capability] = record(capability, functions, sink);
  return recorded;
}

function record(capability: string, functions: object, sink: ImportsSink): object {
  const recorded: Record<string, unknown> = {};
  for (const name in functions) {
    const func: unknown = Reflect.get(functions, name);
    if (typeof func !== "function") continue;
    recorded[name] = (...args: readonly unknown[]): unknown => {
      if (capability === "log") {
        sink.log(args.map(String).join(": "));
        return Reflect.apply(func, functions, args);
      }
      const end = sink.call(capability, name, args);
      let answer: unknown;
      try {
        answer = Reflect.apply(func, functions, args);
      } catch (error) {
        end(undefined, true);
        throw error;
      }
      // The answer of a synchronous capability stays synchronous, as guests of this process need it.
      if (!(answer instanceof Promise)) end(answer, false);
      else
        answer.then(
          (value: unknown) => end(value, false),
          () => end(undefined, true),
        );
      return answer;
    };
  }
  return recorded;
}
