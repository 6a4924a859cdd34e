// Regular expressions of Go's package `regexp` (RE2 syntax). JavaScript's regular expressions differ: `\A`, `[[:alpha:]]` and others have
// another meaning, and matching can take exponential time.

import { RE2JS, RE2JSException } from "re2js";

/** Maximum length of an expression, in UTF-16 units. */
const maxLength = 1000;
/** Maximum instructions of a compiled expression. Each takes time for each character of the text. */
const maxInstructions = 5000;
/** Maximum of `worstInstructions`: compiling 100,000 instructions takes 0.1 to 1.3 s. */
const maxCompiled = 100_000;
/** Go's limit for one repetition, and for the product of nested repetitions. */
const maxRepeats = 1000;

/** A compiled expression. */
export interface Expression {
  /** Whether any part of the text matches, like Go's `MatchString`. */
  readonly matches: (text: string) => boolean;
}

/** The type of `readExpression`. */
export type ReadExpression = typeof readExpression;

/** Compiles an expression. `mistake` is the end of a sentence about an invalid or too expensive expression. */
export function readExpression(text: string): Expression | { readonly mistake: string } {
  if (text.length > maxLength) return { mistake: `is longer than ${maxLength} characters` };
  if (worstInstructions(text) > maxCompiled) return { mistake: "repeats too much: use smaller repetitions" };
  try {
    const expression = RE2JS.compile(text);
    if (expression.programSize() > maxInstructions)
      return { mistake: `compiles to more than ${maxInstructions} instructions: use smaller repetitions` };
    return { matches: (subject) => expression.test(subject) };
  } catch (error) {
    if (error instanceof RE2JSException) return { mistake: `is not a Go regular expression: ${reasonOf(error)}` };
    throw error;
  }
}

/** An upper bound of an expression's instructions: Go repeats a part at most 1,000 times, including nested repetitions. */
function worstInstructions(text: string): number {
  let repeats = 1;
  for (const [, least = "", most = ""] of text.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    repeats *= Math.max(1, Number(least), Number(most));
  return text.length * Math.min(repeats, maxRepeats);
}

/** The library's reason, without the expression, which the caller quotes. */
function reasonOf({ message }: Error): string {
  return message.replace(/^error parsing regexp: /, "").replace(/: `.*$/s, "");
}
