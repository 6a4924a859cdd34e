// The text of an attachment in memory: a vector sets it before the call and shows it after the call. The capability is the node's
// (host/capabilities/state/capability.ts).

import { stateOver } from "../../../host/capabilities/state/capability.ts";
import type { AttachmentId, StateCapability } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { cniVerb, type DelegateCall } from "./records.ts";

/** The stored text, if any. */
export interface KeptState {
  /** The only directory that a configuration may name. */
  readonly directory?: string | undefined;
  readonly text?: string | undefined;
}

/** The state of one attachment. */
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

  /** The capability in one call of the attachment. */
  functions(verb: DelegateCall["verb"], attachment: AttachmentId | undefined): StateCapability {
    const replace = (directory: string | undefined, text: string | undefined): Result<undefined> => {
      const within = this.#within(directory);
      if (within.ok) this.#text = text;
      return within;
    };
    return stateOver({ verb: cniVerb(verb), attachment }, () => ({
      load: (directory) => {
        const within = this.#within(directory);
        return within.ok ? ok(this.#text) : within;
      },
      save: replace,
      remove: (directory) => replace(directory, undefined),
    }));
  }

  #within(directory: string | undefined): Result<undefined> {
    if (directory === this.#directory) return ok(undefined);
    return failed(fault("NOT_GRANTED", `${directory ?? "the default directory"} is not allowed`));
  }
}
