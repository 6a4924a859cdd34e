// Types compared by structure: every distinct structure gets one number, so that equal numbers mean equal types and a
// type that doubles itself at each level costs no more than its definitions.

export type Shape = number;

export interface FunctionShape {
  readonly params: readonly (readonly [name: string, shape: Shape])[];
  /** Null: answers nothing. */
  readonly result: Shape | null;
}

interface Entry {
  readonly head: string;
  /** Labels beside children; an empty label for positions without name, null for an absent child. */
  readonly parts: readonly (readonly [label: string, child: Shape | null])[];
}

/** Interns structures. What `base` knows keeps its number; `base` itself doesn't change. */
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

  /** A resource is equal to itself only. */
  resource(): Shape {
    this.resources += 1;
    return this.of(`resource ${this.resources}`);
  }

  func(type: FunctionShape): Shape {
    return this.of("func", [...type.params, ["->", type.result]]);
  }

  /** Readable text, cut short below the third level. */
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
