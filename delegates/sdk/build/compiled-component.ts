// The answer of a language's compiler, and the inputs that all compilers share.

import type { Abi } from "./abi.ts";
import type { Declaration } from "./declaration.ts";
import type { Interpreter } from "./language.ts";

/** The input of a language's compiler. */
export interface LanguageInput {
  /** The delegate's directory. */
  readonly dir: string;
  readonly declaration: Declaration;
  readonly abi: Abi;
  /** True: without the optimiser, where the language has one. */
  readonly quick: boolean;
  /** True: AssemblyScript's functions keep their names. */
  readonly names: boolean;
  /** The interpreter of a delegate in JavaScript or TypeScript. */
  readonly interpreter: Interpreter;
}

/** A component without its declaration. */
export interface CompiledComponent {
  readonly bytes: Uint8Array;
  /** The capabilities that the code calls, in the order of the alphabet. */
  readonly called: readonly string[];
}
