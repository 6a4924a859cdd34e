// The `delegation` capability for vectors: plugins that answer what the vector says, and a note of each call.

import type { DelegationCapability, Fault, Success } from "../../../host/sandbox/abi/generated/delegate-0.1.0.ts";

type Verb = keyof DelegationCapability;

/** What one plugin answers, by verb; what is absent succeeds, but ADD, which needs a result. */
export type ToldAnswers = Readonly<Partial<Record<Verb, { readonly result?: Success; readonly error?: Fault }>>>;

/** One call, as vectors show it: `{"add": "host-local"}`, with the configuration where the delegate gave one. */
export type ShownCall = Readonly<Record<string, unknown>>;

/** The plugins of one call. */
export class ToldDelegation {
  readonly #plugins: Readonly<Record<string, ToldAnswers>>;
  readonly #called: ShownCall[] = [];

  constructor(plugins: Readonly<Record<string, ToldAnswers>>) {
    this.#plugins = plugins;
  }

  /** The calls, in order. */
  called(): readonly ShownCall[] {
    return this.#called;
  }

  readonly functions: DelegationCapability = {
    add: (type, config) => {
      const told = this.#note("add", type, config);
      if ("err" in told) return told;
      return told.ok === undefined ? missing(`the vector says nothing of ${type}'s ADD`) : { ok: told.ok };
    },
    del: (type, config) => bare(this.#note("del", type, config)),
    check: (type, config) => bare(this.#note("check", type, config)),
    gc: (type, config) => bare(this.#note("gc", type, config)),
    status: (type, config) => bare(this.#note("status", type, config)),
  };

  #note(verb: Verb, type: string, config: string | undefined): Told {
    this.#called.push({ [verb]: type, ...(config === undefined ? {} : { config: JSON.parse(config) }) });
    const plugin = this.#plugins[type];
    if (plugin === undefined) return missing(`there is no plugin ${type}`);
    const { result, error } = plugin[verb] ?? {};
    return error === undefined ? { ok: result } : { err: error };
  }
}

type Told = { readonly ok: Success | undefined } | { readonly err: Fault };

function bare(told: Told): { readonly ok: undefined } | { readonly err: Fault } {
  return "err" in told ? told : { ok: undefined };
}

function missing(msg: string): { readonly err: Fault } {
  return { err: { code: 7, msg } };
}
