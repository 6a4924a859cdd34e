// The vectors that a command line names.

import { closest } from "../../../src/configuration/closest.ts";
import type { Vector } from "../testing/vector.ts";
import { CommandError, exitCode } from "./command.ts";

/** The vectors of these names, or all without a name. Throws a CommandError that names a missing vector and the nearest one. */
export function namedVectors(vectors: readonly Vector[], written: readonly string[], dir: string): readonly Vector[] {
  const names = written.map((name) => name.replace(/\.(?:in|out)\.json$/, "").replace(/^(?:\.\/)?vectors\//, ""));
  const valid = vectors.map(({ name }) => name);
  const missing = names.find((name) => !valid.includes(name));
  if (missing !== undefined) {
    const nearest = closest(missing, valid);
    const help = nearest === undefined ? "" : `; did you mean ${nearest}?`;
    throw new CommandError(`there is no vectors/${missing}.in.json in ${dir}${help}`, exitCode.usage);
  }
  return names.length === 0 ? vectors : vectors.filter(({ name }) => names.includes(name));
}
