// What is wrong with a selection annotation, and what the specification says about it: some mistakes make the whole annotation
// "invalid and ignored" (4.1.2.1.3 to 4.1.2.1.10), all others are errors.

import { fault, type Fault } from "../fault/fault.ts";

export interface SelectionProblem {
  /** One sentence that names the element and the key. */
  readonly why: string;
  /** Whether the specification lets the annotation be ignored for it (decision D-1). */
  readonly ignorable: boolean;
}

/** An element read, or what is wrong with it; warnings either way. */
export interface Reading<T> {
  readonly value: T | undefined;
  readonly problems: readonly SelectionProblem[];
  readonly warnings: readonly string[];
}

/** How many problems or warnings are told one by one; the rest is counted. */
const most = 10;

/** One fault of all problems of an annotation: the first is its message, the next ones its details. */
export function selectionFault(annotation: string, problems: readonly SelectionProblem[]): Fault {
  const [first, ...rest] = shortened(problems.map((each) => each.why));
  return fault("SELECTION_INVALID", `annotation ${annotation}: ${first ?? "invalid"}`, { details: rest.join("\n") });
}

/** At most ten sentences, the last of which counts what was left out. */
export function shortened(sentences: readonly string[]): readonly string[] {
  if (sentences.length <= most) return sentences;
  return [...sentences.slice(0, most), `and ${sentences.length - most} more`];
}
