// A strict parser of RFC 8259. For invalid JSON the parser returns a message with the mistake's place. No input makes the guest abort, however
// deeply nested. Hexadecimal numbers are character codes: 22 quote, 2c comma, 3a colon, 5b [, 5c backslash, 5d ], 7b {, 7d }.

import { Json } from "./json";

/** Deeper nesting is refused, so that no input exhausts the stack. */
const MAX_DEPTH: i32 = 128;

/** A value, or a mistake and its place. */
export class JsonParse {
  constructor(
    readonly value: Json | null,
    /** Empty if there is a value. */
    readonly error: string,
    /** UTF-16 units before the mistake; 0 if there is a value. */
    readonly offset: i32,
  ) {}
}

/** Reads one JSON text. Members with equal keys and unpaired surrogates are kept. */
export function parseJson(text: string): JsonParse {
  const parser = new Parser(text);
  parser.space();
  const value = parser.value(0);
  parser.space();
  if (value !== null && parser.at < text.length) parser.fail("text after the value");
  if (parser.error == "") return new JsonParse(value, "", 0);
  return new JsonParse(null, `${parser.error} at ${place(text, parser.errorAt)}`, parser.errorAt);
}

function place(text: string, at: i32): string {
  let line = 1;
  let start = 0;
  for (let i = 0; i < at; i++) {
    if (text.charCodeAt(i) == 0x0a) {
      line++;
      start = i + 1;
    }
  }
  return `line ${line} column ${at - start + 1}`;
}

class Parser {
  at: i32 = 0;
  error: string = "";
  errorAt: i32 = 0;

  constructor(readonly text: string) {}

  fail(what: string): void {
    if (this.error != "") return;
    this.error = what;
    this.errorAt = this.at;
  }

  private here(): i32 {
    return this.at < this.text.length ? this.text.charCodeAt(this.at) : -1;
  }

  space(): void {
    while (true) {
      const c = this.here();
      if (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09) return;
      this.at++;
    }
  }

  value(depth: i32): Json | null {
    const c = this.here();
    if (c == 0x7b || c == 0x5b) {
      if (depth == MAX_DEPTH) {
        this.fail(`nesting of more than ${MAX_DEPTH} levels`);
        return null;
      }
      return c == 0x7b ? this.object(depth) : this.array(depth);
    }
    if (c == 0x22) {
      const text = this.string();
      return text === null ? null : Json.string(text);
    }
    if (c == 0x2d || (c >= 0x30 && c <= 0x39)) return this.number();
    if (this.word("true")) return Json.bool(true);
    if (this.word("false")) return Json.bool(false);
    if (this.word("null")) return Json.null_();
    this.fail(c < 0 ? "the text ends before a value" : "a value is missing");
    return null;
  }

  private word(word: string): bool {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  private object(depth: i32): Json | null {
    const object = Json.object();
    this.at++;
    this.space();
    if (this.here() == 0x7d) {
      this.at++;
      return object;
    }
    while (true) {
      if (this.here() != 0x22) {
        this.fail("a key in double quotes is missing");
        return null;
      }
      const key = this.string();
      if (key === null) return null;
      this.space();
      if (this.here() != 0x3a) {
        this.fail("a colon is missing after a key");
        return null;
      }
      this.at++;
      this.space();
      const value = this.value(depth + 1);
      if (value === null) return null;
      object.append(key, value);
      this.space();
      const c = this.here();
      if (c != 0x2c && c != 0x7d) {
        this.fail("a comma or closing brace is missing after a member");
        return null;
      }
      this.at++;
      if (c == 0x7d) return object;
      this.space();
    }
  }

  private array(depth: i32): Json | null {
    const array = Json.array();
    this.at++;
    this.space();
    if (this.here() == 0x5d) {
      this.at++;
      return array;
    }
    while (true) {
      const value = this.value(depth + 1);
      if (value === null) return null;
      array.push(value);
      this.space();
      const c = this.here();
      if (c != 0x2c && c != 0x5d) {
        this.fail("a comma or closing bracket is missing after an element");
        return null;
      }
      this.at++;
      if (c == 0x5d) return array;
      this.space();
    }
  }

  private digits(): bool {
    const start = this.at;
    while (this.here() >= 0x30 && this.here() <= 0x39) this.at++;
    return this.at > start;
  }

  private number(): Json | null {
    const start = this.at;
    if (this.here() == 0x2d) this.at++;
    if (this.here() == 0x30) this.at++;
    else if (!this.digits()) {
      this.fail("a digit is missing after a minus");
      return null;
    }
    if (this.here() == 0x2e) {
      this.at++;
      if (!this.digits()) {
        this.fail("a digit is missing after a decimal point");
        return null;
      }
    }
    if ((this.here() | 0x20) == 0x65) {
      this.at++;
      if (this.here() == 0x2b || this.here() == 0x2d) this.at++;
      if (!this.digits()) {
        this.fail("a digit is missing in an exponent");
        return null;
      }
    }
    return Json.number(this.text.substring(start, this.at));
  }

  private string(): string | null {
    const text = this.text;
    let out = "";
    // The text before `copied` is in `out`.
    let copied = ++this.at;
    while (true) {
      const c = this.here();
      if (c == 0x22) {
        const rest = text.substring(copied, this.at);
        this.at++;
        return out.length == 0 ? rest : out + rest;
      }
      if (c < 0x20) {
        this.fail(c < 0 ? "a string has no end" : "a control character in a string");
        return null;
      }
      if (c != 0x5c) {
        this.at++;
        continue;
      }
      out += text.substring(copied, this.at);
      this.at++;
      const escaped = this.escape();
      if (escaped < 0) return null;
      out += String.fromCharCode(escaped);
      copied = this.at;
    }
  }

  private escape(): i32 {
    const c = this.here();
    this.at++;
    switch (c) {
      case 0x22:
      case 0x5c:
      case 0x2f:
        return c;
      case 0x62:
        return 0x08;
      case 0x66:
        return 0x0c;
      case 0x6e:
        return 0x0a;
      case 0x72:
        return 0x0d;
      case 0x74:
        return 0x09;
      case 0x75: {
        let unit = 0;
        for (let i = 0; i < 4; i++) {
          const d = this.here();
          const lower = d | 0x20;
          const digit = d >= 0x30 && d <= 0x39 ? d - 0x30 : lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
          if (digit < 0) {
            this.fail("four hexadecimal digits are missing after \\u");
            return -1;
          }
          unit = unit * 16 + digit;
          this.at++;
        }
        return unit;
      }
      default:
        this.at--;
        this.fail("an unknown escape in a string");
        return -1;
    }
  }
}
