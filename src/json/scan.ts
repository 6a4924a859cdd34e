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

/** Limits of a scan. */
interface Limits {
  readonly maxDepth: number;
  readonly maxKeys: number;
  /** The keys of inner objects were checked before, and are passed over. */
  readonly onlyOuter: boolean;
}

/** One pass over one text: `run` steps from token to token, and each method takes one kind of token. */
class Scanner implements Scan {
  readonly spans: Span[] = [];
  open = 0;
  duplicate: Scan["duplicate"];
  tooDeep: number | undefined;
  tooMany: number | undefined;
  readonly #text: string;
  readonly #limits: Limits;
  /** One entry for each open bracket: an object's keys so far; undefined for an array. */
  readonly #brackets: (Keys | undefined)[] = [];
  #expectsKey = false;
  /** The member that is being read: its key, and the offsets of key and value; -1: not reached. */
  #key = "";
  #start = -1;
  #valueStart = -1;
  #valueEnd = -1;

  constructor(text: string, limits: Limits) {
    this.#text = text;
    this.#limits = limits;
  }

  run(): Scan {
    const text = this.#text;
    const { length } = text;
    let index = 0;
    while (index >= 0 && index < length) {
      const code = text.charCodeAt(index);
      if (code <= SPACE || code === COLON) {
        // Plugins indent their output: half of it is space.
        do index++;
        while (index < length && text.charCodeAt(index) <= SPACE);
      } else if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) index = this.#endMember(index, code !== COMMA);
      else if (code === QUOTE && this.#expectsKey) index = this.#readKey(index);
      else index = this.#readValue(index, code);
    }
    const { spans, open, duplicate, tooDeep, tooMany } = this;
    return { spans, open, duplicate, tooDeep, tooMany };
  }

  /** Takes a comma or a closing bracket. Answers the next offset; -1 after the outermost bracket. */
  #endMember(index: number, closes: boolean): number {
    const brackets = this.#brackets;
    if (closes && brackets.length > 1) this.#valueEnd = index + 1;
    if (brackets.length === 1 && this.#valueStart !== -1) {
      const [start, valueStart, valueEnd] = [this.#start, this.#valueStart, this.#valueEnd];
      this.spans.push({ key: this.#key, start: start === -1 ? valueStart : start, valueStart, valueEnd });
      this.#start = -1;
      this.#valueStart = -1;
    }
    if (closes) brackets.pop();
    if (brackets.length === 0) return -1;
    this.#expectsKey = !closes && brackets[brackets.length - 1] !== undefined;
    return index + 1;
  }

  /** Takes a key. Answers the next offset; -1 if the key has no end, or is one too many. */
  #readKey(index: number): number {
    const brackets = this.#brackets;
    const next = endOfString(this.#text, index);
    if (next === -1) return next;
    this.#expectsKey = false;
    if (this.#limits.onlyOuter && brackets.length > 1) return next;
    const key = decodeKey(this.#text.slice(index, next));
    const keys = brackets[brackets.length - 1];
    if (keys !== undefined && keys.count >= this.#limits.maxKeys) {
      this.tooMany = index;
      return -1;
    }
    const wasPresent = keys?.add(key) === true;
    if (wasPresent && this.duplicate === undefined) this.duplicate = { key, offset: index };
    if (brackets.length === 1) {
      this.#key = key;
      this.#start = index;
    }
    return next;
  }

  /** Takes a string, an opening bracket, or a character of another value. Answers the next offset; -1 at a string without end, or a bracket too deep. */
  #readValue(index: number, code: number): number {
    const next = code === QUOTE ? endOfString(this.#text, index) : index + 1;
    if (next === -1) return next;
    const brackets = this.#brackets;
    if (brackets.length === 1 && this.#valueStart === -1) this.#valueStart = index;
    this.#valueEnd = next;
    if (code !== OPEN_BRACE && code !== OPEN_BRACKET) return next;
    if (brackets.length === 0) this.open = next;
    if (brackets.length === this.#limits.maxDepth) {
      this.tooDeep = index;
      return -1;
    }
    brackets.push(code === OPEN_BRACE ? new Keys() : undefined);
    this.#expectsKey = code === OPEN_BRACE;
    return next;
  }
}

/**
 * Scans `text`; stops at the first bracket deeper than `maxDepth`, and at the first object with more than `maxKeys` keys. Linear in the text's
 * length, no recursion. `onlyOuter`: the keys of inner objects were checked before, and are passed over.
 */
export function scan(text: string, maxDepth: number, maxKeys = Infinity, onlyOuter = false): Scan {
  return new Scanner(text, { maxDepth, maxKeys, onlyOuter }).run();
}
