// Regular expressions as Go's package regexp has them (RE2 syntax), for telling whether a text has a match. JavaScript's own differ: they
// read `\A`, `[[:alpha:]]` and others as something else, and can take time that grows exponentially with the text. These take time in
// proportion to the lengths of both. What isn't known here is refused: flags such as `(?i)`, `\pL`, `\Q…\E`.

import { ExpressionMistake, type Instruction, Reader } from "./expression-reader.ts";

export interface Expression {
  /** Whether any part of the text matches, as Go's MatchString tells. */
  readonly matches: (text: string) => boolean;
}

/** The expression, or what is wrong with it as the end of a sentence. */
export function readExpression(text: string): Expression | { readonly mistake: string } {
  try {
    const program = new Reader(text).read();
    return {
      matches: (subject) =>
        runs(
          program,
          Array.from(subject, (character) => character.codePointAt(0) ?? 0),
        ),
    };
  } catch (error) {
    if (error instanceof ExpressionMistake) return { mistake: error.message };
    throw error;
  }
}

function runs(program: readonly Instruction[], text: readonly number[]): boolean {
  let places = new Set<number>();
  for (let at = 0; at <= text.length; at++) {
    // A match may begin anywhere.
    if (follow(program, 0, places, text, at)) return true;
    const next = new Set<number>();
    for (const place of places) {
      const step = program[place];
      const character = text[at];
      if (step?.kind !== "character" || character === undefined || !step.set(character)) continue;
      if (follow(program, place + 1, next, text, at + 1)) return true;
    }
    places = next;
  }
  return false;
}

/** Adds the places that are reached from this one without a character; true: one of them is the end of the expression. */
function follow(
  program: readonly Instruction[],
  from: number,
  places: Set<number>,
  text: readonly number[],
  at: number,
): boolean {
  const open = [from];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const step = program[place];
    if (step === undefined || places.has(place)) continue;
    places.add(place);
    switch (step.kind) {
      case "match":
        return true;
      case "character":
        break;
      case "jump":
        open.push(step.to);
        break;
      case "split":
        open.push(step.or, step.to);
        break;
      default:
        if (holds(step.kind, text, at)) open.push(place + 1);
    }
  }
  return false;
}

function holds(kind: "begin" | "end" | "boundary" | "no-boundary", text: readonly number[], at: number): boolean {
  if (kind === "begin") return at === 0;
  if (kind === "end") return at === text.length;
  return (isWord(text[at - 1]) !== isWord(text[at])) === (kind === "boundary");
}

function isWord(character: number | undefined): boolean {
  return character !== undefined && character < 0x80 && /\w/.test(String.fromCharCode(character));
}
