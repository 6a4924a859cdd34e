// The `delegation` capability for vectors: plugins with the vector's answers, and a record of each call.

import type { DelegationCapability, Fault, Success } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";

type Verb = keyof DelegationCapability;

/** One answer of a plugin. */
interface ScriptedAnswer {
  readonly result?: Success;
  readonly error?: Fault;
}

/** The answers of one plugin, by verb, in the order of its calls; the last one repeats. Absent verbs succeed, except ADD, which needs a result. */
export type ScriptedAnswers = Readonly<Partial<Record<Verb, readonly ScriptedAnswer[]>>>;

/** One call in a vector: `{"add": "host-local"}`, with the configuration if the delegate passed one. */
export type ShownCall = Readonly<Record<string, unknown>>;

/** The plugins of one call. */
export class ScriptedDelegation {
  readonly #plugins: Readonly<Record<string, ScriptedAnswers>>;
  readonly #called: ShownCall[] = [];

  constructor(plugins: Readonly<Record<string, ScriptedAnswers>>) {
    this.#plugins = plugins;
  }

  /** The calls, in order. */
  called(): readonly ShownCall[] {
    return this.#called;
  }

  readonly functions: DelegationCapability = {
    add: (type, config) => {
      const answer = this.#record("add", type, config);
      if ("err" in answer) return answer;
      return answer.ok === undefined ? missing(`the vector has no answer of ${type} to ADD`) : { ok: answer.ok };
    },
    del: (type, config) => withoutResult(this.#record("del", type, config)),
    check: (type, config) => withoutResult(this.#record("check", type, config)),
    gc: (type, config) => withoutResult(this.#record("gc", type, config)),
    status: (type, config) => withoutResult(this.#record("status", type, config)),
  };

  #record(verb: Verb, type: string, config: string | undefined): Answer {
    const earlier = this.#called.filter((call) => call[verb] === type).length;
    this.#called.push({ [verb]: type, ...(config === undefined ? {} : { config: JSON.parse(config) }) });
    const plugin = this.#plugins[type];
    if (plugin === undefined) return missing(`the vector has no plugin ${type}`);
    const answers = plugin[verb] ?? [];
    const { result, error } = answers[Math.min(earlier, answers.length - 1)] ?? {};
    return error === undefined ? { ok: result } : { err: error };
  }
}

type Answer = { readonly ok: Success | undefined } | { readonly err: Fault };

function withoutResult(answer: Answer): { readonly ok: undefined } | { readonly err: Fault } {
  return "err" in answer ? answer : { ok: undefined };
}

function missing(msg: string): { readonly err: Fault } {
  return { err: { code: 7, msg } };
}
