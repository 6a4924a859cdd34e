// The host's view of a guest's memory while values cross: every pointer, length, discriminant and text is checked before
// it is used, and everything that comes out is charged to a budget before anything is allocated for it.

import { GuestFault } from "./guest-fault.ts";

/** A WIT result. */
export type Outcome<T, E> = { readonly ok: T } | { readonly err: E };

/** Glue of one imported function. Methods, because the linker dispatches by name over values of any type. */
export interface ImportGlue {
  /** The function's name on the host's side. */
  readonly host: string;
  /** Core signature, as `signature` writes it. */
  readonly core: string;
  lift(guest: Guest, ...flat: number[]): readonly unknown[];
  lower?(guest: Guest, value: unknown, at: number): void;
}

/** Glue of one exported function. */
export interface VerbGlue {
  readonly core: string;
  lower(guest: Guest, request: unknown): number[];
  lift(guest: Guest, at: number): unknown;
}

/** What is left of a call's budgets, in bytes. */
export interface Budget {
  input: number;
  output: number;
}

// What an element costs the host beside its bytes: an object of some fields.
const elementCost = 16;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const nothing = new DataView(new ArrayBuffer(0));

/** Memory and allocator of one instance. */
export class Guest {
  private readonly memory: WebAssembly.Memory;
  private readonly realloc: unknown;
  private readonly budget: Budget;
  private view: DataView = nothing;
  private bytes: Uint8Array = new Uint8Array(0);

  constructor(memory: WebAssembly.Memory, realloc: unknown, budget: Budget) {
    this.memory = memory;
    this.realloc = realloc;
    this.budget = budget;
  }

  /** Looks at the memory anew: call after anything of the guest ran, which may have grown it. */
  refresh(): void {
    const { buffer } = this.memory;
    if (this.view.buffer === buffer && this.view.byteLength === buffer.byteLength) return;
    this.view = new DataView(buffer);
    this.bytes = new Uint8Array(buffer);
  }

  /** Checks that `size` bytes at `at` are the guest's and aligned. */
  range(at: number, size: number, align: number): number {
    const start = at >>> 0;
    if (start + size > this.bytes.length)
      throw violated(`${size} bytes at ${start} reach beyond its memory of ${this.bytes.length} bytes`);
    if (start % align !== 0) throw violated(`the pointer ${start} is not aligned to ${align}`);
    return start;
  }

  /** Asks the guest for memory and checks what it answers. */
  alloc(size: number, align: number): number {
    this.budget.input -= size;
    if (this.budget.input < 0)
      throw new GuestFault("LIMIT_INPUT", "the values that it would be given exceed the limit of its input");
    if (typeof this.realloc !== "function") throw violated("it has no allocator");
    const answer: unknown = this.realloc(0, 0, align, size);
    this.refresh();
    if (typeof answer !== "number") throw violated("its allocator answered no pointer");
    return this.range(answer, size, align);
  }

  // Numbers out of memory; the caller has checked the range that holds them.
  u8(at: number): number {
    return this.view.getUint8(at >>> 0);
  }
  s8(at: number): number {
    return this.view.getInt8(at >>> 0);
  }
  u16(at: number): number {
    return this.view.getUint16(at >>> 0, true);
  }
  s16(at: number): number {
    return this.view.getInt16(at >>> 0, true);
  }
  u32(at: number): number {
    return this.view.getUint32(at >>> 0, true);
  }
  s32(at: number): number {
    return this.view.getInt32(at >>> 0, true);
  }
  bool(at: number): boolean {
    return this.u8(at) !== 0;
  }

  /** A discriminant of `size` bytes below `cases`. */
  discriminant(at: number, size: number, cases: number): number {
    return this.liftCase(size === 1 ? this.u8(at) : size === 2 ? this.u16(at) : this.u32(at), cases);
  }

  liftCase(value: number, cases: number): number {
    const number = value >>> 0;
    if (number >= cases) throw violated(`the discriminant ${number} of a type with ${cases} cases`);
    return number;
  }

  label<T>(labels: readonly T[], value: number): T {
    const label = labels[value >>> 0];
    if (label === undefined) throw violated(`the discriminant ${value >>> 0} of an enum with ${labels.length} cases`);
    return label;
  }

  liftU32(value: number): number {
    return value >>> 0;
  }
  liftS32(value: number): number {
    return value | 0;
  }
  liftBool(value: number): boolean {
    return value !== 0;
  }

  loadString(at: number): string {
    return this.liftString(this.u32(at), this.u32(at + 4));
  }

  liftString(pointer: number, length: number): string {
    const size = length >>> 0;
    const start = this.range(pointer, size, 1);
    this.charge(size + elementCost);
    try {
      return decoder.decode(this.bytes.subarray(start, start + size));
    } catch {
      throw violated(`the text of ${size} bytes at ${start} is not UTF-8`);
    }
  }

  /** Text of which at most `most` bytes are wanted: what exceeds them isn't looked at. */
  liftCutString(
    pointer: number,
    length: number,
    most: number,
  ): { readonly text: string; readonly cut: boolean; readonly bytes: number } {
    const size = length >>> 0;
    const start = this.range(pointer, size, 1);
    const taken = Math.min(size, most);
    const cut = taken < size;
    try {
      // In a stream, the half of a character that the cut left over is held back, not refused.
      const own = cut ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }) : decoder;
      return { text: own.decode(this.bytes.subarray(start, start + taken), { stream: cut }), cut, bytes: taken };
    } catch {
      throw violated(`the text of ${size} bytes at ${start} is not UTF-8`);
    }
  }

  loadList<T>(at: number, size: number, align: number, load: (guest: Guest, at: number) => T): readonly T[] {
    return this.liftList(this.u32(at), this.u32(at + 4), size, align, load);
  }

  liftList<T>(pointer: number, length: number, size: number, align: number, load: (guest: Guest, at: number) => T): readonly T[] {
    const count = length >>> 0;
    const start = this.range(pointer, count * size, align);
    this.charge(count * (size + elementCost));
    const list: T[] = [];
    for (let index = 0; index < count; index += 1) list.push(load(this, start + index * size));
    return list;
  }

  storeU8(at: number, value: number): void {
    this.view.setUint8(at, whole(value, 0, 0xff));
  }
  storeU16(at: number, value: number): void {
    this.view.setUint16(at, whole(value, 0, 0xffff), true);
  }
  storeU32(at: number, value: number): void {
    this.view.setUint32(at, whole(value, 0, 0xffff_ffff), true);
  }
  storeS32(at: number, value: number): void {
    this.view.setInt32(at, whole(value, -0x8000_0000, 0x7fff_ffff), true);
  }
  storeBool(at: number, value: boolean): void {
    this.view.setUint8(at, value ? 1 : 0);
  }

  storeString(at: number, value: string): void {
    const length = Buffer.byteLength(value);
    const pointer = this.text(value, length);
    this.view.setUint32(at, pointer, true);
    this.view.setUint32(at + 4, length, true);
  }

  lowerString(value: string, out: number[]): void {
    const length = Buffer.byteLength(value);
    out.push(this.text(value, length), length);
  }

  lowerU32(value: number, out: number[]): void {
    out.push(whole(value, 0, 0xffff_ffff));
  }

  storeList<T>(at: number, list: readonly T[], size: number, align: number, store: (at: number, value: T) => void): void {
    const pointer = this.elements(list, size, align, store);
    this.view.setUint32(at, pointer, true);
    this.view.setUint32(at + 4, list.length, true);
  }

  lowerList<T>(list: readonly T[], size: number, align: number, out: number[], store: (at: number, value: T) => void): void {
    out.push(this.elements(list, size, align, store), list.length);
  }

  // Nothing is asked of the guest for what is empty; any aligned pointer does.
  private elements<T>(list: readonly T[], size: number, align: number, store: (at: number, value: T) => void): number {
    if (list.length === 0) return align;
    const pointer = this.alloc(list.length * size, align);
    for (const [index, value] of list.entries()) store(pointer + index * size, value);
    return pointer;
  }

  private text(value: string, length: number): number {
    if (length === 0) return 1;
    const pointer = this.alloc(length, 1);
    encoder.encodeInto(value, this.bytes.subarray(pointer, pointer + length));
    return pointer;
  }

  private charge(bytes: number): void {
    this.budget.output -= bytes;
    if (this.budget.output < 0) throw new GuestFault("LIMIT_OUTPUT", "handed over more than the limit of its output");
  }
}

function violated(what: string): GuestFault {
  return new GuestFault("ABI_VIOLATED", what);
}

function whole(value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new TypeError(`the host would hand over ${String(value)} where a number from ${least} to ${most} belongs`);
}
