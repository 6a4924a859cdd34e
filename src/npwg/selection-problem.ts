// Problems of a selection annotation. For some the specification says that the whole annotation is "invalid and ignored"
// (4.1.2.1.3 to 4.1.2.1.10); all others are errors.

import { fault, type Fault } from "../fault/fault.ts";

/** One problem of the annotation. */
export interface SelectionProblem {
  /** One sentence that names the element and the key. */
  readonly why: string;
  /** Whether the specification allows the annotation to be ignored for this problem (decision D-01). */
  readonly ignorable: boolean;
}

/** A sentence, or the function that writes it. Of many sentences only some are shown, and the search for a mistyped key takes time. */
export type Sentence = string | (() => string);

/** An element, or its problems; with warnings in both cases. */
export interface Reading<T> {
  readonly value: T | undefined;
  readonly problems: readonly SelectionProblem[];
  readonly warnings: readonly Sentence[];
}

/** Maximum number of problems or warnings in a message; the rest is counted. */
const maxListed = 10;

/** One fault for all problems of an annotation: the first is the message, the next ones the details. */
export function selectionFault(annotation: string, problems: readonly SelectionProblem[]): Fault {
  const [first, ...rest] = shortened(problems.map((each) => each.why));
  return fault("SELECTION_INVALID", `annotation ${annotation}: ${first ?? "invalid"}`, { details: rest.join("\n") });
}

/** At most ten sentences; a further one counts the omitted ones. */
export function shortened(sentences: readonly Sentence[]): readonly string[] {
  const listed = sentences.slice(0, maxListed).map(textOf);
  return sentences.length <= maxListed ? listed : [...listed, `and ${sentences.length - maxListed} more`];
}

/** The sentence's text. */
export function textOf(sentence: Sentence): string {
  return typeof sentence === "string" ? sentence : sentence();
}
