// Reads a regular expression (expression.ts) into the program of its machine.

export type CharacterSet = (character: number) => boolean;

/** One step of a machine that is in several places at once. */
export type Instruction =
  | { readonly kind: "character"; readonly set: CharacterSet }
  | { readonly kind: "begin" | "end" | "boundary" | "no-boundary" | "match" }
  | { readonly kind: "jump"; to: number }
  | { readonly kind: "split"; to: number; or: number };

/** Why a text is no expression, as the end of a sentence. */
export class ExpressionMistake extends Error {
  override readonly name = "ExpressionMistake";
}

/** As Go has it, for one repetition. */
const mostRepeats = 1000;
/** Repetitions of repetitions multiply: more is refused. */
const mostInstructions = 10_000;
const mostDepth = 100;

const perlClasses: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  d: [[0x30, 0x39]],
  s: [
    [9, 10],
    [12, 13],
    [32, 32],
  ],
  w: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
};

const namedClasses: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  // oxlint-disable-next-line no-control-regex -- the class is defined by its codes
  ascii: /[\x00-\x7f]/,
  blank: /[\t ]/,
  // oxlint-disable-next-line no-control-regex -- the class is defined by its codes
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  word: /[0-9A-Za-z_]/,
  xdigit: /[0-9A-Fa-f]/,
};

const controls: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

type Part = readonly Instruction[];

export class Reader {
  readonly #text: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = Array.from(text);
  }

  read(): Part {
    const part = this.#alternatives();
    if (this.#at < this.#text.length) throw new ExpressionMistake("has a ) without (");
    return [...part, { kind: "match" }];
  }

  #alternatives(): Part {
    if (++this.#depth > mostDepth) throw new ExpressionMistake(`nests deeper than ${mostDepth}`);
    let part = this.#sequence();
    while (this.#takes("|")) {
      const other = this.#sequence();
      part = whole([
        { kind: "split", to: 1, or: part.length + 2 },
        ...moved(part, 1),
        { kind: "jump", to: part.length + other.length + 2 },
        ...moved(other, part.length + 2),
      ]);
    }
    this.#depth -= 1;
    return part;
  }

  #sequence(): Part {
    let part: Part = [];
    while (this.#at < this.#text.length && this.#next !== "|" && this.#next !== ")") {
      const repeated = this.#repeated(this.#atom());
      part = whole([...part, ...moved(repeated, part.length)]);
    }
    return part;
  }

  get #next(): string {
    return this.#text[this.#at] ?? "";
  }

  #takes(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(): string {
    const character = this.#text[this.#at];
    if (character === undefined) throw new ExpressionMistake("ends too early");
    this.#at += 1;
    return character;
  }

  #repeated(part: Part): Part {
    const bounds = this.#bounds();
    if (bounds === undefined) return part;
    this.#takes("?"); // whether as many or as few as possible makes no difference to whether there is a match
    if (this.#bounds() !== undefined) throw new ExpressionMistake("repeats a repetition without parentheses");
    const [least, most] = bounds;
    let repeated: Part = [];
    const add = (more: Part): void => {
      repeated = whole([...repeated, ...moved(more, repeated.length)]);
    };
    for (let count = 0; count < least; count++) add(part);
    if (most === Infinity) add([{ kind: "split", to: 1, or: part.length + 2 }, ...moved(part, 1), { kind: "jump", to: 0 }]);
    else for (let count = least; count < most; count++) add([{ kind: "split", to: 1, or: part.length + 1 }, ...moved(part, 1)]);
    return repeated;
  }

  /** How often what stands before is repeated; undefined where nothing says so. */
  #bounds(): readonly [least: number, most: number] | undefined {
    if (this.#takes("*")) return [0, Infinity];
    if (this.#takes("+")) return [1, Infinity];
    if (this.#takes("?")) return [0, 1];
    // A brace that begins no repetition is a brace.
    const [written, low = "", comma, high] = /^\{(\d+)(,?)(\d*)\}/.exec(this.#text.slice(this.#at, this.#at + 32).join("")) ?? [];
    if (written === undefined) return undefined;
    const least = Number(low);
    const most = comma === "" ? least : high === "" ? Infinity : Number(high);
    if (least > mostRepeats || (most !== Infinity && most > mostRepeats) || most < least)
      throw new ExpressionMistake(`has the repetition ${written}: at most ${mostRepeats}, the lower number first`);
    this.#at += written.length;
    return [least, most];
  }

  #atom(): Part {
    const from = this.#at;
    if (this.#bounds() !== undefined)
      throw new ExpressionMistake(`has nothing before ${this.#text.slice(from, this.#at).join("")}`);
    const character = this.#take();
    switch (character) {
      case "(":
        return this.#group();
      case "[":
        return one(this.#bracketed());
      case ".":
        return one((code) => code !== 10);
      case "^":
        return [{ kind: "begin" }];
      case "$":
        return [{ kind: "end" }];
      case "\\":
        return this.#escaped();
      default:
        return one(only(character.codePointAt(0) ?? 0));
    }
  }

  #group(): Part {
    if (this.#takes("?")) {
      const rest = this.#text.slice(this.#at, this.#at + 64).join("");
      const [opening] = /^(?::|P?<\w+>)/.exec(rest) ?? [];
      if (opening === undefined) throw new ExpressionMistake(`has (?${rest.slice(0, 1)}, which is not known here`);
      this.#at += opening.length;
    }
    const part = this.#alternatives();
    if (!this.#takes(")")) throw new ExpressionMistake("has a ( without )");
    return part;
  }

  #escaped(): Part {
    const character = this.#take();
    if (character === "A") return [{ kind: "begin" }];
    if (character === "z") return [{ kind: "end" }];
    if (character === "b") return [{ kind: "boundary" }];
    if (character === "B") return [{ kind: "no-boundary" }];
    return one(perlClass(character) ?? only(this.#code(character)));
  }

  /** The character that an escape stands for. */
  #code(character: string): number {
    const code = character.codePointAt(0) ?? 0;
    const control = Object.hasOwn(controls, character) ? controls[character] : undefined;
    if (control !== undefined) return control;
    if (code < 0x80 && !/[0-9A-Za-z]/.test(character)) return code;
    const [octal = ""] = /^[0-7]{1,2}/.exec(this.#text.slice(this.#at, this.#at + 2).join("")) ?? [];
    if (character === "0" || (/[1-7]/.test(character) && octal !== "")) {
      this.#at += octal.length;
      return Number.parseInt(character + octal, 8);
    }
    if (character === "x") {
      const [written, braced, plain] =
        /^(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/.exec(this.#text.slice(this.#at, this.#at + 8).join("")) ?? [];
      const value = Number.parseInt(braced ?? plain ?? "", 16);
      if (written !== undefined && value <= 0x10_ffff) {
        this.#at += written.length;
        return value;
      }
    }
    throw new ExpressionMistake(`has \\${character}, which is not known here`);
  }

  #bracketed(): CharacterSet {
    const negated = this.#takes("^");
    const sets: CharacterSet[] = [];
    for (let first = true; first || this.#next !== "]"; first = false) {
      const set = this.#named();
      if (set !== undefined) {
        sets.push(set);
        continue;
      }
      const low = this.#member();
      const isRange = typeof low === "number" && this.#next === "-" && (this.#text[this.#at + 1] ?? "]") !== "]";
      if (isRange) {
        this.#at += 1;
        const high = this.#member();
        if (typeof high !== "number" || high < low) throw new ExpressionMistake("has a range that ends before it begins");
        sets.push((code) => code >= low && code <= high);
      } else sets.push(typeof low === "number" ? only(low) : low);
    }
    this.#at += 1;
    return (code) => sets.some((set) => set(code)) !== negated;
  }

  /** A character of a bracketed class, or a class within it. */
  #member(): number | CharacterSet {
    const character = this.#take();
    if (character !== "\\") return character.codePointAt(0) ?? 0;
    const escaped = this.#take();
    return perlClass(escaped) ?? this.#code(escaped);
  }

  #named(): CharacterSet | undefined {
    if (this.#next !== "[" || this.#text[this.#at + 1] !== ":") return undefined;
    const [written, not, name = ""] = /^\[:(\^?)(\w+):\]/.exec(this.#text.slice(this.#at, this.#at + 16).join("")) ?? [];
    if (written === undefined) return undefined;
    const pattern = Object.hasOwn(namedClasses, name) ? namedClasses[name] : undefined;
    if (pattern === undefined) throw new ExpressionMistake(`has ${written}, which is no class of characters`);
    this.#at += written.length;
    return (code) => (code < 0x80 && pattern.test(String.fromCharCode(code))) !== (not === "^");
  }
}

function perlClass(letter: string): CharacterSet | undefined {
  const lower = letter.toLowerCase();
  const ranges = Object.hasOwn(perlClasses, lower) ? perlClasses[lower] : undefined;
  if (ranges === undefined) return undefined;
  return (code) => ranges.some(([low, high]) => code >= low && code <= high) === (letter === lower);
}

function only(character: number): CharacterSet {
  return (code) => code === character;
}

function one(set: CharacterSet): Part {
  return [{ kind: "character", set }];
}

/** The same instructions where they begin `by` further on. */
function moved(part: Part, by: number): Part {
  return part.map((step) => {
    if (step.kind === "jump") return { ...step, to: step.to + by };
    return step.kind === "split" ? { ...step, to: step.to + by, or: step.or + by } : step;
  });
}

function whole(part: Part): Part {
  if (part.length > mostInstructions) throw new ExpressionMistake(`is too large: more than ${mostInstructions} steps`);
  return part;
}
