// Components whose admission would take long if a step of it took more than linear time: each grows one dimension.

import { parse } from "@bytecodealliance/jco";
import { binaryOf, leb, replaceCoreModule, sectionsOf, type Section } from "./sections.ts";
import { componentOf, coreModuleOf, declared, readWat } from "./wat.ts";

const preamble = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00);

function vector(items: readonly (readonly number[])[]): Uint8Array {
  return Uint8Array.from([...leb(items.length), ...items.flat()]);
}

function named(text: string): readonly number[] {
  return [...leb(text.length), ...Buffer.from(text)];
}

function times<T>(count: number, of: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => of(index));
}

const component = (sections: readonly Section[]): Uint8Array => binaryOf(preamble, sections);
const types = (...items: readonly (readonly number[])[]): Section => ({ id: 7, content: vector(items) });

/** A tuple type; its elements are encoded types of one byte. */
function tuple(count: number, element: number): readonly number[] {
  return [0x6f, ...leb(count), ...times(count, () => element)];
}

const u8 = 0x7d;

/**
 * A component of some 4 KB that imports an interface with a type of three levels with `elements` each. A text of the type has elements³
 * parts.
 */
export function deepDescription(elements: number): Uint8Array {
  // (instance (alias outer 1 2 (type 0)) (export "level" (type (eq 0))))
  const level = [0x42, 2, 0x02, 0x03, 0x02, 1, 2, 0x04, 0x00, ...named("level"), 0x03, 0x00, 0];
  const imported = [0x00, ...named("cni:delegate/log@1.0.0"), 0x05, 3];
  return component([
    types(tuple(elements, u8), tuple(elements, 0), tuple(elements, 1), level),
    { id: 10, content: vector([imported]) },
  ]);
}

/** A component that makes `instances` instances of a nested component with `bytes` bytes of types, and uses an export of each. */
export function nestedInstances(instances: number, bytes: number): Uint8Array {
  // The nested component's type 1 is an instance type, one definition with any number of declarations.
  const declarations = times(Math.max(1, Math.floor(bytes / 1000)), () => [0x01, ...tuple(996, u8)]);
  const nested = component([
    types([0x7f], [0x42, ...vector(declarations)]),
    { id: 11, content: vector([[0x00, ...named("x"), 0x03, 0, 0x00]]) },
  ]);
  return component([
    { id: 4, content: nested },
    { id: 5, content: vector(times(instances, () => [0x00, 0, 0])) },
    { id: 6, content: vector(times(instances, (index) => [0x03, 0x00, ...leb(index), ...named("x")])) },
  ]);
}

/** A component with `exports` exported functions, all of one type with a hundred long parameters. */
export function longFunctionType(exports: number): Uint8Array {
  const params = times(100, (index) => [...named(`p${index}-${"x".repeat(240)}`), u8]);
  // (module (func (export "f")))
  const core = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 0x66, 0, 0, 10, 4, 1, 2, 0, 0x0b];
  return component([
    { id: 1, content: Uint8Array.from(core) },
    { id: 2, content: vector([[0x00, 0, 0]]) },
    { id: 6, content: vector([[0x00, 0x00, 0x01, 0, ...named("f")]]) },
    types([0x40, ...vector(params), 0x01, 0x00]),
    { id: 8, content: vector([[0x00, 0x00, 0, 0, 0]]) },
    { id: 11, content: vector(times(exports, (index) => [0x00, ...named(`f${index}`), 0x01, 0, 0x01, 0x01, 0])) },
  ]);
}

function wasi(index: number): string {
  return `wasi:a/b@0.0.${index}`;
}

/** A component with a nested component that imports an instance type of `items` types `imports` times. */
export function importedItems(imports: number, items: number): Uint8Array {
  const exported = times(items, (index) => [0x04, 0x00, ...named(`t${index}`), 0x03, 0x00, 0]);
  const nested = component([
    types([0x7f], [0x42, ...leb(items + 1), 0x02, 0x03, 0x02, 1, 0, ...exported.flat()]),
    { id: 10, content: vector(times(imports, (index) => [0x00, ...named(wasi(index)), 0x05, 1])) },
    { id: 11, content: vector([[0x00, ...named("x"), 0x03, 0, 0x00]]) },
  ]);
  const args = times(imports, (index) => [...named(wasi(index)), 0x05, 0]);
  return component([
    { id: 4, content: nested },
    // Instance 0 has no exports.
    {
      id: 5,
      content: vector([
        [0x01, 0],
        [0x00, 0, ...leb(imports), ...args.flat()],
      ]),
    },
    { id: 6, content: vector([[0x03, 0x00, 1, ...named("x")]]) },
  ]);
}

/** A component with this number of types. */
export function manyTypes(count: number): Uint8Array {
  return component([types(...times(count, () => [0x6e, 1, ...named("flag")]))]);
}

/** A component with this number of empty custom sections. */
export function manySections(count: number): Uint8Array {
  return component(times(count, () => ({ id: 0, content: Uint8Array.of(0) })));
}

let good: Promise<Uint8Array> | undefined;
/** A valid component, whose core module is replaced. */
async function withCore(core: Uint8Array): Promise<Uint8Array> {
  good ??= coreModuleOf(readWat("good").source).then(componentOf);
  return declared(replaceCoreModule(await good, core), "grown", []);
}

/** A valid component whose core module has these further definitions. */
async function withDefinitions(text: string): Promise<Uint8Array> {
  return withCore(await coreModuleOf(`${readWat("good").source}\n${text}`));
}

/** A valid component with this number of functions, each with a loop. */
export async function manyFunctions(count: number): Promise<Uint8Array> {
  return withDefinitions("(func (loop (br_if 0 (i32.const 0))))".repeat(count));
}

/** A valid component with one function of this number of nested blocks. */
export async function longFunction(count: number): Promise<Uint8Array> {
  return withDefinitions(`(func ${"(block (drop (i32.const 1)))".repeat(count)})`);
}

/** A valid component with this number of data segments and of globals. */
export async function manySegments(count: number): Promise<Uint8Array> {
  return withDefinitions(
    `${'(data (i32.const 0) "x")'.repeat(count)}${"(global i32 (i32.const 0))".repeat(Math.min(count, 9_000))}`,
  );
}

/** A valid component whose core module has this number of custom sections. */
export async function manyCoreSections(count: number): Promise<Uint8Array> {
  const core = await coreModuleOf(readWat("good").source);
  return withCore(binaryOf(core, [...sectionsOf(core), ...times(count, () => ({ id: 0, content: Uint8Array.of(0) }))]));
}

/**
 * A valid component with `instances` further core instances, each with `imports` imports of a function with a thousand parameters. The types
 * of all imports are compared.
 */
export async function longCoreImports(instances: number, imports: number): Promise<Uint8Array> {
  const params = `(param${" i32".repeat(1000)})`;
  const exporting = await parse(`(module (func (export "f") ${params}))`);
  const importing = await parse(`(module (type $t (func ${params}))${'(import "a" "f" (func (type $t)))'.repeat(imports)})`);
  const base = await withDefinitions("");
  const sections = sectionsOf(base);
  const modules = sections.filter(({ id }) => id === 1).length;
  const present = sections.filter(({ id }) => id === 2).reduce((sum, { content }) => sum + (content[0] ?? 0), 0);
  const further = times(instances, () => [0x00, modules + 1, 1, ...named("a"), 0x12, present]);
  return binaryOf(base, [
    ...sections,
    { id: 1, content: exporting },
    { id: 1, content: importing },
    { id: 2, content: vector([[0x00, modules, 0], ...further]) },
  ]);
}
