// The `state` capability in memory: a vector sets the attachment's state before the call and shows it after the call.

import type { StateCapability } from "../../../host/sandbox/abi/generated/delegate-1.0.0.ts";

/** The stored text, if any. */
export interface KeptState {
  /** The only directory that a configuration may name. */
  readonly directory?: string | undefined;
  readonly text?: string | undefined;
}

/** The state of one call. */
export class MemoryState {
  readonly #directory: string | undefined;
  #text: string | undefined;

  constructor({ directory, text }: KeptState = {}) {
    this.#directory = directory;
    this.#text = text;
  }

  /** The current state. */
  current(): KeptState {
    return {
      ...(this.#directory === undefined ? {} : { directory: this.#directory }),
      ...(this.#text === undefined ? {} : { text: this.#text }),
    };
  }

  readonly functions: StateCapability = {
    load: (directory) => this.#within(directory, () => this.#text),
    save: (directory, text) =>
      this.#within(directory, () => {
        this.#text = text;
        return undefined;
      }),
    remove: (directory) =>
      this.#within(directory, () => {
        this.#text = undefined;
        return undefined;
      }),
  };

  #within<T>(directory: string | undefined, act: () => T): { ok: T } | { err: { code: number; msg: string } } {
    if (directory === this.#directory) return { ok: act() };
    return { err: { code: 7, msg: `${directory ?? "the default directory"} is not allowed` } };
  }
}
