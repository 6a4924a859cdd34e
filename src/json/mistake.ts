// Finds where a text stops being JSON, and what was expected there. Runs only on text that JSON.parse has refused: V8's messages
// lack the position of several mistakes, and their wording may change.

/** The first mistake of a text as JSON. */
export interface Mistake {
  /** Offset of the first wrong character; the text's length if the text ends too early. */
  readonly offset: number;
  readonly expected: string;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WHITESPACE = /[ \t\n\r]*/y;
const LITERALS = ["true", "false", "null"];
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function skip(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Offset after the string that starts at `start`, or the mistake within it. */
function endOfString(text: string, start: number): number | Mistake {
  let index = start + 1;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === 0x22) return index + 1;
    if (code < 0x20) return { offset: index, expected: "a control character in a string to be escaped" };
    if (code === 0x5c) {
      const after = skip(ESCAPE, text, index);
      if (after === -1) return { offset: index, expected: 'one of the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX' };
      index = after;
    } else {
      index++;
    }
  }
  return { offset: text.length, expected: "the string's closing quote" };
}

/** Offset after the scalar at `start`, or the mistake. */
function endOfScalar(text: string, start: number): number | Mistake {
  if (text[start] === '"') return endOfString(text, start);
  const literal = LITERALS.find((word) => text.startsWith(word, start));
  if (literal !== undefined) return start + literal.length;
  const after = skip(NUMBER, text, start);
  return after === -1 ? { offset: start, expected: "a value" } : after;
}

/** The first mistake of `text` as JSON (RFC 8259); undefined if there is none. Works without recursion. */
export function findMistake(text: string): Mistake | undefined {
  const closers: ("}" | "]")[] = [];
  let state: "value" | "first-element" | "first-key" | "key" | "after" = "value";
  let index = 0;
  /** Offset of the comma before `index`, if nothing but white space is between. */
  let comma = -1;
  for (;;) {
    index = skip(WHITESPACE, text, index);
    const character = text[index];
    const closer = closers[closers.length - 1];
    if (state === "after") {
      if (closer === undefined) return index === text.length ? undefined : { offset: index, expected: "nothing after the value" };
      if (character === ",") [state, comma] = [closer === "}" ? "key" : "value", index];
      else if (character === closer) closers.pop();
      else return { offset: index, expected: `"," or "${closer}"` };
      index++;
      continue;
    }
    if ((state === "first-key" || state === "first-element") && character === closer) {
      closers.pop();
      state = "after";
      index++;
      continue;
    }
    if (comma !== -1 && character === closer) return { offset: comma, expected: `no comma before "${closer}"` };
    comma = -1;
    if (state === "first-key" || state === "key") {
      if (character !== '"') return { offset: index, expected: state === "key" ? "a key in quotes" : 'a key in quotes or "}"' };
      const end = endOfString(text, index);
      if (typeof end !== "number") return end;
      index = skip(WHITESPACE, text, end);
      if (text[index] !== ":") return { offset: index, expected: '":" after the key' };
      state = "value";
      index++;
      continue;
    }
    if (character === "{" || character === "[") {
      closers.push(character === "{" ? "}" : "]");
      state = character === "{" ? "first-key" : "first-element";
      index++;
      continue;
    }
    const end = endOfScalar(text, index);
    if (typeof end !== "number") return end;
    state = "after";
    index = end;
  }
}
