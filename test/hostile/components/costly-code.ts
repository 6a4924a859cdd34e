// Components whose code makes V8 work: each construct stands for much machine code, memory or time of V8's compilers. A component calls its
// costly function once in the start function, which makes V8 compile it.

import { binaryOf, leb, replaceCoreModule, sectionsOf, type Section } from "./sections.ts";
import { componentOf, coreModuleOf, declared, readWat } from "./wat.ts";

type Bytes = readonly number[];

/** A function of its own type, with locals of one type. */
interface CostlyFunction {
  readonly params?: Bytes;
  readonly results?: Bytes;
  readonly locals?: readonly [count: number, type: number];
  readonly code: Uint8Array;
}

/** The indices that a construct's code may name. */
interface Indices {
  /** The type of the function with this number. */
  readonly type: (number: number) => number;
  /** The function with this number. */
  readonly func: (number: number) => number;
}

/** A construct that can be repeated. */
export interface CostlyConstruct {
  readonly about: string;
  /** The functions for this number of repetitions. The first one is called; it has neither parameters nor results. */
  readonly functions: (count: number, indices: Indices) => readonly CostlyFunction[];
}

const i32 = 0x7f;
const i64 = 0x7e;
const f64 = 0x7c;
const v128 = 0x7b;
const funcref = 0x70;
const empty = 0x40;
const zero: Bytes = [0x41, 0];
/** (i32.load (i32.const 0)): a value that no compiler knows. */
const unknown: Bytes = [...zero, 0x28, 2, 0];
const drop: Bytes = [0x1a];
const end: Bytes = [0x0b];
const nothing = new Uint8Array(0);

function repeated(count: number, bytes: Bytes | Uint8Array): Uint8Array {
  const all = new Uint8Array(count * bytes.length);
  for (let at = 0; at < all.length; at += bytes.length) all.set(bytes, at);
  return all;
}

function each(count: number, of: (index: number) => Bytes): Uint8Array {
  return Uint8Array.from(Array.from({ length: count }, (_, index) => of(index)).flat());
}

function code(...parts: readonly (Bytes | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => Uint8Array.from(part)));
}

function many(count: number, type = i32): Bytes {
  return Array<number>(count).fill(type);
}

/** A type index as a signed number. */
function typeIndex(index: number): Bytes {
  const low = index % 128;
  return index < 64 ? [low] : [low + 128, ...typeIndex(Math.floor(index / 128))];
}

/** Code that repeats `part` beside 999 unknown values. `part` gets the index of the type (999) → (999). */
function beside999(part: (type: Bytes) => Bytes): CostlyConstruct["functions"] {
  return (count, { type }) => [
    { code: code(repeated(999, unknown), repeated(count, part(typeIndex(type(1)))), repeated(999, drop)) },
    { params: many(999), results: many(999), code: each(999, (index) => [0x20, ...leb(index)]) },
  ];
}

/** Code that repeats `part` in a function with so many locals. Function 1 is empty. */
function withLocals(locals: number, part: (empty: Bytes) => Bytes, type = i32): CostlyConstruct["functions"] {
  return (count, { func }) => [
    { locals: [locals, type], code: code([0x02, empty], repeated(count, part(leb(func(1)))), end) },
    { code: nothing },
  ];
}

/** Code that repeats `part` in a function with a local of this type. */
function straight(type: number, part: Bytes): CostlyConstruct["functions"] {
  return (count) => [{ locals: [3, type], code: repeated(count, part) }];
}

/** Code that repeats `part` within a block that ends first, because `part` would trap. */
function skipped(type: number, part: Bytes): CostlyConstruct["functions"] {
  return (count) => [{ locals: [3, type], code: code([0x02, empty], unknown, [0x45, 0x0d, 0], repeated(count, part), end) }];
}

function nested(open: Bytes): CostlyConstruct["functions"] {
  return (count) => [{ code: code(repeated(count, open), repeated(count, end)) }];
}

/** Functions with this many results: a block's results are dropped outside of it. */
function branchesOut(results: number, value: Bytes, type: number): CostlyConstruct["functions"] {
  return (count, indices) => [
    {
      code: code(
        [0x02, ...typeIndex(indices.type(1))],
        // A further value below the results: each branch moves all of them.
        unknown,
        repeated(results, value),
        repeated(count, [...zero, 0x0d, 0]),
        [0x0c, 0],
        end,
        repeated(results, drop),
      ),
    },
    { results: many(results, type), code: code([0x00]) },
  ];
}

/** All constructs whose costs were measured. */
export const costlyConstructs: readonly CostlyConstruct[] = [
  { about: "br_if out of a block with 999 results", functions: branchesOut(999, unknown, i32) },
  { about: "br_if out of a block with 999 vectors", functions: branchesOut(999, [...unknown, 0xfd, 0x11], v128) },
  { about: "br_if out of a block with 16 results", functions: branchesOut(16, unknown, i32) },
  { about: "block with 999 parameters and results", functions: beside999((type) => [0x02, ...type, 0x0b]) },
  { about: "loop with 999 parameters and results", functions: beside999((type) => [0x03, ...type, 0x0b]) },
  { about: "if with 999 parameters and results", functions: beside999((type) => [...zero, 0x04, ...type, 0x0b]) },
  {
    about: "call with 999 parameters and results",
    functions: (count, indices) => beside999(() => [0x10, ...leb(indices.func(1))])(count, indices),
  },
  {
    about: "call_indirect with 999 parameters and results",
    functions: (count, indices) => {
      const [first, ...rest] = beside999(() => [...zero, 0x11, ...leb(indices.type(1)), 0])(count, indices);
      return [{ ...first, code: code(unknown, [0x04, empty], first?.code ?? nothing, end) }, ...rest];
    },
  },
  {
    about: "return of 999 values",
    functions: (count, { func, type }) => [
      { code: code([0x10, ...leb(func(1))], repeated(999, drop)) },
      {
        results: many(999),
        code: code(repeated(999, unknown), repeated(count, [...unknown, 0x04, ...typeIndex(type(2)), 0x0f, 0x0b])),
      },
      { params: many(999), results: many(999), code: code([0x00]) },
    ],
  },
  {
    about: "return_call with 999 parameters",
    functions: (count, { func, type }) => [
      { code: code([0x10, ...leb(func(1))], repeated(999, drop)) },
      {
        results: many(999),
        code: code(
          repeated(999, unknown),
          repeated(count, [...unknown, 0x04, ...typeIndex(type(2)), 0x12, ...leb(func(2)), 0x0b]),
        ),
      },
      { params: many(999), results: many(999), code: each(999, (index) => [0x20, ...leb(index)]) },
    ],
  },
  {
    about: "br_table with 100 labels of 100 results",
    functions: (count, { type }) => {
      const labels = 100;
      const table = [0x0e, ...leb(labels - 1), ...each(labels, (index) => leb(index + 1))];
      const level = code(end, repeated(100, drop), repeated(100, unknown));
      return [
        {
          code: code(
            repeated(labels, [0x02, ...typeIndex(type(1))]),
            repeated(100, unknown),
            repeated(count, code([...unknown, 0x04, empty], unknown, repeated(100, unknown), zero, table, end)),
            repeated(labels - 1, level),
            end,
            repeated(100, drop),
          ),
        },
        { results: many(100), code: code([0x00]) },
      ];
    },
  },
  {
    about: "br_table with 1000 entries beside 1000 locals",
    functions: withLocals(1000, () => [0x02, empty, ...unknown, 0x21, 0, ...unknown, 0x0e, ...leb(999), ...many(1000, 0), 0x0b]),
  },
  { about: "br_if beside 10 000 locals", functions: withLocals(10_000, () => [...unknown, 0x0d, 0]) },
  {
    about: "block with br_if beside 10 000 locals",
    functions: withLocals(10_000, () => [0x02, empty, ...unknown, 0x0d, 0, 0x0b]),
  },
  { about: "if beside 10 000 locals", functions: withLocals(10_000, () => [...unknown, 0x04, empty, 0x0b]) },
  { about: "loop beside 10 000 locals", functions: withLocals(10_000, () => [0x03, empty, 0x0b]) },
  { about: "call beside 10 000 locals", functions: withLocals(10_000, (func) => [0x10, ...func]) },
  { about: "call beside 10 000 funcref locals", functions: withLocals(10_000, (func) => [0x10, ...func], funcref) },
  { about: "division beside 10 000 locals", functions: withLocals(10_000, () => [...unknown, 0x41, 1, 0x6d, 0x1a]) },
  { about: "memory.grow beside 10 000 locals", functions: withLocals(10_000, () => [...zero, 0x40, 0, 0x1a]) },
  {
    about: "if beside 10 000 operands",
    functions: (count) => [
      { code: code(repeated(10_000, unknown), repeated(count, [...unknown, 0x04, empty, 0x0b]), repeated(10_000, drop)) },
    ],
  },
  {
    about: "call beside 10 000 funcref operands",
    functions: (count, { func }) => [
      {
        code: code(repeated(10_000, [0xd0, funcref]), repeated(count, [0x10, ...leb(func(1))]), repeated(10_000, drop)),
      },
      { code: nothing },
    ],
  },
  {
    about: "function with 50 000 locals",
    functions: (count, { func }) => [
      { code: each(count, (index) => [0x10, ...leb(func(index + 1))]) },
      ...Array.from({ length: count }, (): CostlyFunction => ({ locals: [50_000, i32], code: code([0x03, empty, 0x0b]) })),
    ],
  },
  {
    about: "function with 45 blocks of 999 parameters and results",
    functions: (count, indices) => [
      { code: each(count, (index) => [0x10, ...leb(indices.func(index + 2))]) },
      { params: many(999), results: many(999), code: code([0x00]) },
      ...Array.from({ length: count }, () => beside999((type) => [0x02, ...type, 0x0b])(45, indices)[0] ?? { code: nothing }),
    ],
  },
  { about: "nested block", functions: nested([0x02, empty]) },
  { about: "nested if", functions: nested([...unknown, 0x04, empty]) },
  { about: "nested loop", functions: nested([0x03, empty]) },
  { about: "loop", functions: straight(i32, [0x03, empty, 0x0b]) },
  { about: "if", functions: straight(i32, [...zero, 0x04, empty, 0x0b]) },
  { about: "call", functions: withLocals(1, (func) => [0x10, ...func]) },
  {
    about: "call_indirect",
    functions: (count, { type }) => skipped(i32, [...zero, 0x11, ...leb(type(0)), 0])(count, { type, func: type }),
  },
  {
    about: "br_table with 1000 entries",
    functions: withLocals(1, () => [0x02, empty, ...unknown, 0x0e, ...leb(999), ...many(1000, 0), 0x0b]),
  },
  { about: "conversion that traps", functions: straight(f64, [0x20, 0, 0xb1, 0xb9, 0x21, 0]) },
  {
    about: "chain of conversions that trap",
    functions: (count) => [{ locals: [1, f64], code: code([0x20, 0], repeated(count, [0xb1, 0xb9]), drop) }],
  },
  { about: "i32 division", functions: skipped(i32, [0x20, 0, 0x20, 0, 0x6d, 0x1a]) },
  { about: "i64 remainder", functions: skipped(i64, [0x20, 0, 0x20, 0, 0x81, 0x1a]) },
  { about: "memory.fill", functions: straight(i32, [...zero, ...zero, ...zero, 0xfc, 11, 0]) },
  { about: "memory.copy", functions: straight(i32, [...zero, ...zero, ...zero, 0xfc, 10, 0, 0]) },
  {
    about: "ref.func",
    functions: (count, { func }) => [
      { code: repeated(count, [0xd0, funcref, 0xd1, 0x1a, ...zero, 0x1a]) },
      { code: code([0x10, ...leb(func(1))]) },
    ],
  },
  { about: "i8x16.popcnt", functions: straight(v128, [0x20, 0, 0xfd, 98, 0x21, 0]) },
  { about: "i32x4.trunc_sat_f32x4_u", functions: straight(v128, [0x20, 0, 0xfd, 0xf9, 1, 0x21, 0]) },
  { about: "chain of loads", functions: (count) => [{ code: code(zero, repeated(count, [0x2d, 0, 0]), drop) }] },
  { about: "chain of additions", functions: straight(i32, [0x20, 0, 0x20, 1, 0x6a, 0x21, 0]) },
  { about: "select", functions: straight(i32, [0x20, 0, 0x20, 1, 0x20, 2, 0x1b, 0x21, 0]) },
];

/** A valid component whose core module has the construct so many times. */
export async function costlyComponent({ functions }: CostlyConstruct, count: number): Promise<Uint8Array> {
  const core = await coreModuleOf(readWat("good").source);
  const sections = sectionsOf(core);
  const typesBefore = vectorOf(sections, 1).count;
  const imports = vectorOf(sections, 2).count;
  const functionsBefore = imports + vectorOf(sections, 3).count;
  const added = functions(count, { type: (number) => typesBefore + number, func: (number) => functionsBefore + number });
  const types = added.map(({ params = [], results = [] }) => [
    0x60,
    ...leb(params.length),
    ...params,
    ...leb(results.length),
    ...results,
  ]);
  const bodies = added.map(({ locals, code: instructions }) => {
    const declaredLocals = locals === undefined ? [0] : [1, ...leb(locals[0]), locals[1]];
    const length = declaredLocals.length + instructions.length + 1;
    return code(leb(length), declaredLocals, instructions, end);
  });
  const table: Section = { id: 4, content: Uint8Array.from([1, funcref, 0, 1]) };
  const start: Section = { id: 8, content: Uint8Array.from(leb(functionsBefore)) };
  const changed = sections
    .filter(({ id }) => id !== 0)
    .map((section) => {
      if (section.id === 1) return extended(section, types);
      if (section.id === 3)
        return extended(
          section,
          added.map((_, index) => leb(typesBefore + index)),
        );
      return section.id === 10 ? extended(section, bodies) : section;
    });
  const withTable = inserted(inserted(changed, table), start);
  const base = await componentOf(await coreModuleOf(readWat("good").source));
  return declared(replaceCoreModule(base, binaryOf(core, withTable)), "costly", []);
}

/** The vector's length, and its bytes without the length. */
function vectorOf(sections: readonly Section[], id: number): { readonly count: number; readonly rest: Uint8Array } {
  const content = sections.find((section) => section.id === id)?.content ?? Uint8Array.of(0);
  // The modules of the fixtures have fewer than 128 of each.
  return { count: content[0] ?? 0, rest: content.subarray(1) };
}

function extended(section: Section, items: readonly (Bytes | Uint8Array)[]): Section {
  const { count, rest } = vectorOf([section], section.id);
  return { id: section.id, content: code(leb(count + items.length), rest, ...items) };
}

function inserted(sections: readonly Section[], section: Section): readonly Section[] {
  const place = sections.findIndex(({ id }) => id > section.id);
  return sections.toSpliced(place < 0 ? sections.length : place, 0, section);
}
