// Answers the calls of imports from a record, in its order. Used by `plexusctl trace replay` and `plexus-delegate run --replay`.

import { jsonEqual } from "../json/json-changes.ts";
import { decodeValue, encodeValue } from "./import-values.ts";

/** A recorded call. Values are encoded by import-values.ts. */
export interface RecordedImport {
  /** Such as `leases.reserve`. */
  readonly name: string;
  readonly args: unknown;
  readonly answer: unknown;
}

/** Maximum UTF-16 units of a call in a message. */
const maxShown = 400;

/** The replay of one run's calls. */
export class ImportReplay {
  readonly #calls: readonly RecordedImport[];
  #next = 0;
  #difference: string | undefined;

  constructor(calls: readonly RecordedImport[]) {
    this.#calls = calls;
  }

  /** The recorded answer, or how the call differs from the recorded one. */
  answer(name: string, args: readonly unknown[]): { readonly answer: unknown } | { readonly difference: string } {
    const expected = this.#calls[this.#next];
    this.#next += 1;
    // As JSON: an argument that JSON cannot distinguish, such as -0, was not distinguished by the record.
    const encoded: unknown = JSON.parse(JSON.stringify(encodeValue(args)));
    if (expected !== undefined && expected.name === name && jsonEqual(expected.args, encoded))
      return { answer: decodeValue(expected.answer) };
    const call = `call ${this.#next}`;
    const difference =
      expected === undefined
        ? `${call}, ${shown(name, encoded)}, was not recorded`
        : `${call} is ${shown(name, encoded)}; recorded: ${shown(expected.name, expected.args)}`;
    this.#difference ??= difference;
    return { difference };
  }

  /** The first call that differs from the recorded one; undefined: none. */
  get difference(): string | undefined {
    return this.#difference;
  }

  /** The number of recorded calls that were not made. */
  get left(): number {
    return Math.max(0, this.#calls.length - this.#next);
  }
}

function shown(name: string, args: unknown): string {
  const text = JSON.stringify(args).slice(1, -1);
  return `${name}(${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text})`;
}
