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

/** Interns structures. Structures of `base` keep their numbers, and `base` is not changed. */
export class Shapes {
  private readonly base: Shapes | undefined;
  private readonly first: Shape;
  private readonly numbers = new Map<string, Shape>();
  private readonly entries: Entry[] = [];
  private resources = 0;

  constructor(base?: Shapes) {
    this.base = base;
    this.first = base === undefined ? 0 : base.first + base.entries.length;
  }

  /** The number of the structure with this head (record, list, …) and these parts. */
  of(head: string, parts: readonly (readonly [string, Shape | null])[] = []): Shape {
    let key = head;
    for (const [label, child] of parts) key += `,${label}:${child ?? ""}`;
    const known = this.base?.numbers.get(key) ?? this.numbers.get(key);
    if (known !== undefined) return known;
    const shape = this.first + this.entries.length;
    this.entries.push({ head, parts });
    this.numbers.set(key, shape);
    return shape;
  }

  /** A new resource type, which is equal only to itself. */
  resource(): Shape {
    this.resources += 1;
    return this.of(`resource ${this.resources}`);
  }

  /** The number of a function's structure. */
  func(type: FunctionShape): Shape {
    return this.of("func", [...type.params, ["->", type.result]]);
  }

  /** The structure as text, abbreviated below `depth` levels. */
  describe(shape: Shape | null, depth = 3): string {
    if (shape === null) return "_";
    const entry = this.base?.entries[shape] ?? this.entries[shape - this.first];
    if (entry === undefined) return "?";
    if (entry.parts.length === 0) return entry.head;
    if (depth === 0) return `${entry.head}<…>`;
    const parts = entry.parts.map(([label, child]) => (label === "" ? "" : `${label}: `) + this.describe(child, depth - 1));
    const text = `${entry.head}<${parts.join(", ")}>`;
    return text.length > 400 ? `${text.slice(0, 400)}…` : text;
  }
}
