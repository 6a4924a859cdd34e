// Compares types by structure. Every distinct structure has one number, so equal numbers mean equal types. A type that doubles at each level
// costs no more than its definitions.

/** The number of a structure. */
export type Shape = number;

/** The shape of a function. */
export interface FunctionShape {
  readonly params: readonly (readonly [name: string, shape: Shape])[];
  /** Null: no result. */
  readonly result: Shape | null;
}

interface Entry {
  readonly head: string;
  /** Labels and children. The label of an unnamed position is empty; an absent child is null. */
  readonly parts: readonly (readonly [label: string, child: Shape | null])[];
}

/** Maximum length of a structure's text. */
const maxDescription = 400;

/** Interns structures. Structures of `base` keep their numbers, and `base` is not changed. */
export class Shapes {
  readonly #base: Shapes | undefined;
  readonly #first: Shape;
  readonly #numbers = new Map<string, Shape>();
  readonly #entries: Entry[] = [];
  /** Shapes of functions. Many exports may have the type of one long definition. */
  readonly #functions = new WeakMap<FunctionShape, Shape>();
  #resources = 0;

  constructor(base?: Shapes) {
    this.#base = base;
    this.#first = base === undefined ? 0 : base.#first + base.#entries.length;
  }

  /** The number of the structure with this head (record, list, …) and these parts. */
  of(head: string, parts: readonly (readonly [string, Shape | null])[] = []): Shape {
    let key = head;
    for (const [label, child] of parts) key += `,${label}:${child ?? ""}`;
    const known = this.#known(key);
    if (known !== undefined) return known;
    const shape = this.#first + this.#entries.length;
    this.#entries.push({ head, parts });
    this.#numbers.set(key, shape);
    return shape;
  }

  #known(key: string): Shape | undefined {
    return this.#numbers.get(key) ?? (this.#base === undefined ? undefined : this.#base.#numbers.get(key));
  }

  #entry(shape: Shape): Entry | undefined {
    return this.#base !== undefined && shape < this.#first ? this.#base.#entries[shape] : this.#entries[shape - this.#first];
  }

  /** A new resource type, which is equal only to itself. */
  resource(): Shape {
    this.#resources += 1;
    return this.of(`resource ${this.#resources}`);
  }

  /** The number of a function's structure. */
  func(type: FunctionShape): Shape {
    const known = this.#functions.get(type);
    if (known !== undefined) return known;
    const shape = this.of("func", [...type.params, ["->", type.result]]);
    this.#functions.set(type, shape);
    return shape;
  }

  /** The structure as text, abbreviated below three levels and after 400 characters. */
  describe(shape: Shape | null): string {
    const text: string[] = [];
    const left = { characters: maxDescription };
    this.#append(shape, 3, (part) => {
      if (left.characters <= 0) return false;
      text.push(part.length > left.characters ? `${part.slice(0, left.characters)}…` : part);
      left.characters -= part.length;
      return left.characters > 0;
    });
    return text.join("");
  }

  /** Appends the structure's text part by part, until `append` answers false: a structure of n parts has a text of up to n³ parts. */
  #append(shape: Shape | null, depth: number, append: (part: string) => boolean): boolean {
    if (shape === null) return append("_");
    const entry = this.#entry(shape);
    if (entry === undefined) return append("?");
    if (entry.parts.length === 0) return append(entry.head);
    if (depth === 0) return append(`${entry.head}<…>`);
    if (!append(`${entry.head}<`)) return false;
    for (const [index, [label, child]] of entry.parts.entries()) {
      const separator = index === 0 ? "" : ", ";
      if (!append(label === "" ? separator : `${separator}${label}: `) || !this.#append(child, depth - 1, append)) return false;
    }
    return append(">");
  }
}
