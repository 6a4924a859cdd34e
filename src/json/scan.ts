// One pass over JSON text that finds what JSON.parse does not report: the position of each member, the depth of nesting, and
// duplicate keys. It tolerates invalid JSON (JSON.parse decides that), so it can run first and limit the depth.

/** The position of a member of the outermost object, or of an element of the outermost array. */
export interface Span {
  /** The member's decoded key; the empty string for an element of an array. */
  readonly key: string;
  /** Offset of the key's opening quote; in an array, of the value. */
  readonly start: number;
  readonly valueStart: number;
  /** Offset after the value's last character. */
  readonly valueEnd: number;
}

/** The result of one pass over a JSON text. */
export interface Scan {
  /** The members of the outermost object or array, in the text's order. */
  readonly spans: readonly Span[];
  /** Offset after the outermost opening bracket; 0 without one. */
  readonly open: number;
  /** The first key, at any depth, that occurs twice in its object. */
  readonly duplicate: { readonly key: string; readonly offset: number } | undefined;
  /** Offset of the first bracket beyond the allowed depth. */
  readonly tooDeep: number | undefined;
  /** Offset of the first key beyond the allowed number of its object. */
  readonly tooMany: number | undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** Offset after the string's closing quote, or -1. `start` is the opening quote. */
function endOfString(text: string, start: number): number {
  // Most strings are short, and a call of `indexOf` costs as much as forty characters.
  const near = Math.min(text.length, start + 32);
  let from = start + 1;
  for (; from < near; from++) {
    const code = text.charCodeAt(from);
    if (code === QUOTE) return from + 1;
    if (code === BACKSLASH) break;
  }
  let quote = text.indexOf('"', from);
  while (quote !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return -1;
}

/** Two spellings of one key ("a" and "\u0061") are the same key. */
function decodeKey(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

/**
 * The keys of one object. Few keys are searched in a list, which is cheaper than a set; many keys are in a set, so that no input
 * is slow.
 */
class Keys {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;
  /** The number of added keys, repeated ones included. */
  count = 0;

  /** Adds the key and tells whether it was already present. */
  add(key: string): boolean {
    this.count++;
    if (this.#many !== undefined) {
      const seen = this.#many.has(key);
      this.#many.add(key);
      return seen;
    }
    const seen = this.#few.includes(key);
    this.#few.push(key);
    if (this.#few.length > 16) this.#many = new Set(this.#few);
    return seen;
  }
}

/**
 * Scans `text`; stops at the first bracket deeper than `maxDepth`, and at the first object with more than `maxKeys` keys. Linear in the text's
 * length, no recursion. `onlyOuter`: the keys of inner objects were checked before, and are passed over.
 */
export function scan(text: string, maxDepth: number, maxKeys = Infinity, onlyOuter = false): Scan {
  const spans: Span[] = [];
  // One entry for each open bracket: an object's keys so far; undefined for an array.
  const open: (Keys | undefined)[] = [];
  const length = text.length;
  let rootOpen = 0;
  let duplicate: Scan["duplicate"];
  let expectsKey = false;
  let key = "";
  let start = -1;
  let valueStart = -1;
  let valueEnd = -1;
  let index = 0;
  while (index < length) {
    const code = text.charCodeAt(index);
    let next = index + 1;
    if (code <= SPACE) {
      // Plugins indent their output: half of it is space.
      while (next < length && text.charCodeAt(next) <= SPACE) next++;
      index = next;
      continue;
    }
    if (code === COLON) {
      index = next;
      continue;
    }
    const closes = code === CLOSE_BRACE || code === CLOSE_BRACKET;
    if (closes || code === COMMA) {
      if (closes && open.length > 1) valueEnd = next;
      if (open.length === 1 && valueStart !== -1) {
        spans.push({ key, start: start === -1 ? valueStart : start, valueStart, valueEnd });
        start = -1;
        valueStart = -1;
      }
      if (closes) open.pop();
      if (open.length === 0) break;
      expectsKey = !closes && open[open.length - 1] !== undefined;
      index = next;
      continue;
    }
    if (code === QUOTE) {
      next = endOfString(text, index);
      if (next === -1) break;
      if (expectsKey && onlyOuter && open.length > 1) {
        expectsKey = false;
        index = next;
        continue;
      }
      if (expectsKey) {
        const found = decodeKey(text.slice(index, next));
        const keys = open[open.length - 1];
        if (keys !== undefined && keys.count >= maxKeys) {
          return { spans, open: rootOpen, duplicate, tooDeep: undefined, tooMany: index };
        }
        const seen = keys?.add(found) === true;
        if (seen && duplicate === undefined) duplicate = { key: found, offset: index };
        if (open.length === 1) {
          key = found;
          start = index;
        }
        expectsKey = false;
        index = next;
        continue;
      }
    }
    if (open.length === 1 && valueStart === -1) valueStart = index;
    valueEnd = next;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (open.length === 0) rootOpen = next;
      if (open.length === maxDepth) return { spans, open: rootOpen, duplicate, tooDeep: index, tooMany: undefined };
      open.push(code === OPEN_BRACE ? new Keys() : undefined);
      expectsKey = code === OPEN_BRACE;
    }
    index = next;
  }
  return { spans, open: rootOpen, duplicate, tooDeep: undefined, tooMany: undefined };
}
