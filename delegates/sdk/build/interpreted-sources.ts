// The input of an interpreter's tool: a delegate's modules in a directory, and its world.

import type { SourceModule } from "./javascript-sources.ts";

/** A delegate in JavaScript, ready for an interpreter. */
export interface InterpretedSources {
  /** The directory of the modules and of the entry. */
  readonly root: string;
  /** The author's modules. */
  readonly modules: readonly SourceModule[];
  /** The text of the module around the author's, and its file. */
  readonly entryText: string;
  readonly entryFile: string;
  /** The file of the contract with the delegate's world. */
  readonly witFile: string;
}
