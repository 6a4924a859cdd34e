// The host's access to a guest's memory for lifting and lowering. Every pointer, length, discriminant and text is checked before its use.
// Values from the guest are charged to a budget before the host allocates memory for them.

import { GuestFault } from "./guest-fault.ts";

/** A WIT result. */
export type Outcome<T, E> = { readonly ok: T } | { readonly err: E };

/** A core parameter: V8 passes an i64 as a bigint. */
export type CoreValue = number | bigint;

/** Glue of one imported function. `lift` and `lower` are methods (bivariant), because the linker calls them with values of any type. */
export interface ImportGlue {
  /** The function's name on the host's side. */
  readonly host: string;
  /** Core signature, as `signature` writes it. */
  readonly core: string;
  lift(guest: Guest, ...flat: CoreValue[]): readonly unknown[];
  lower?(guest: Guest, value: unknown, at: number): void;
}

/** Glue of one exported function. */
export interface VerbGlue {
  readonly core: string;
  lower(guest: Guest, request: unknown): number[];
  lift(guest: Guest, at: number): unknown;
}

/** The unused part of a call's budgets, in bytes. */
export interface Budget {
  input: number;
  output: number;
}

// Bytes that an element costs the host in addition: an object with some fields.
const elementCost = 16;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const maxExact = BigInt(Number.MAX_SAFE_INTEGER);
const emptyView = new DataView(new ArrayBuffer(0));

/** The memory and the allocator of one instance. Throws GuestFault for every violation. */
export class Guest {
  readonly #memory: WebAssembly.Memory;
  readonly #realloc: unknown;
  readonly #budget: Budget;
  #view: DataView = emptyView;
  #bytes: Uint8Array = new Uint8Array(0);

  constructor(memory: WebAssembly.Memory, realloc: unknown, budget: Budget) {
    this.#memory = memory;
    this.#realloc = realloc;
    this.#budget = budget;
  }

  /** Renews the views of the memory. Must be called after guest code ran, because the guest may have grown the memory. */
  refresh(): void {
    const { buffer } = this.#memory;
    if (this.#view.buffer === buffer && this.#view.byteLength === buffer.byteLength) return;
    this.#view = new DataView(buffer);
    this.#bytes = new Uint8Array(buffer);
  }

  /** Checks that `size` bytes at `at` are in the guest's memory and aligned. Answers the unsigned offset. */
  range(at: number, size: number, align: number): number {
    const start = at >>> 0;
    if (start + size > this.#bytes.length)
      throw violated(`passes ${size} bytes at ${start}, beyond its memory of ${this.#bytes.length} bytes`);
    if (start % align !== 0) throw violated(`passes the pointer ${start}, which is not aligned to ${align}`);
    return start;
  }

  /** Calls the guest's allocator and checks the pointer that it returns. */
  alloc(size: number, align: number): number {
    this.#budget.input -= size;
    if (this.#budget.input < 0) throw new GuestFault("LIMIT_INPUT", "would receive more than the limit of its input");
    if (typeof this.#realloc !== "function") throw violated("has no allocator");
    const answer: unknown = this.#realloc(0, 0, align, size);
    this.refresh();
    if (typeof answer !== "number") throw violated("has an allocator that returned no pointer");
    return this.range(answer, size, align);
  }

  // Numbers in memory. The caller has checked their range.
  u8(at: number): number {
    return this.#view.getUint8(at >>> 0);
  }
  s8(at: number): number {
    return this.#view.getInt8(at >>> 0);
  }
  u16(at: number): number {
    return this.#view.getUint16(at >>> 0, true);
  }
  s16(at: number): number {
    return this.#view.getInt16(at >>> 0, true);
  }
  u32(at: number): number {
    return this.#view.getUint32(at >>> 0, true);
  }
  s32(at: number): number {
    return this.#view.getInt32(at >>> 0, true);
  }
  /** At most 2^53 - 1, so that the number is exact in JavaScript and in JSON. */
  u64(at: number): number {
    return this.liftU64(this.#view.getBigUint64(at >>> 0, true));
  }
  bool(at: number): boolean {
    return this.u8(at) !== 0;
  }

  /** Reads a discriminant of `size` bytes and checks that it is below `cases`. */
  discriminant(at: number, size: number, cases: number): number {
    return this.liftCase(size === 1 ? this.u8(at) : size === 2 ? this.u16(at) : this.u32(at), cases);
  }

  liftCase(value: number, cases: number): number {
    const number = value >>> 0;
    if (number >= cases) throw violated(`passes the discriminant ${number} of a type with ${cases} cases`);
    return number;
  }

  label<T>(labels: readonly T[], value: number): T {
    const label = labels[value >>> 0];
    if (label === undefined) throw violated(`passes the discriminant ${value >>> 0} of an enum with ${labels.length} cases`);
    return label;
  }

  liftU8(value: number): number {
    return value & 0xff;
  }
  liftU16(value: number): number {
    return value & 0xffff;
  }
  /** At most 2^53 - 1, as `u64`. V8 passes an i64 as a signed bigint. */
  liftU64(value: bigint): number {
    const unsigned = BigInt.asUintN(64, value);
    if (unsigned > maxExact) throw violated(`passes the number ${unsigned}, which exceeds 2^53 - 1`);
    return Number(unsigned);
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
    this.#charge(size + elementCost);
    try {
      return decoder.decode(this.#bytes.subarray(start, start + size));
    } catch {
      throw violated(`passes a text of ${size} bytes at ${start} that is not UTF-8`);
    }
  }

  /** Lifts at most `maxBytes` of a text; the rest is not read. `bytes` is the number of bytes read. */
  liftCutString(
    pointer: number,
    length: number,
    maxBytes: number,
  ): { readonly text: string; readonly cut: boolean; readonly bytes: number } {
    const size = length >>> 0;
    const start = this.range(pointer, size, 1);
    const taken = Math.min(size, maxBytes);
    const cut = taken < size;
    try {
      // With `stream`, the decoder holds back an incomplete character at the cut instead of refusing it.
      const textDecoder = cut ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }) : decoder;
      return { text: textDecoder.decode(this.#bytes.subarray(start, start + taken), { stream: cut }), cut, bytes: taken };
    } catch {
      throw violated(`passes a text of ${size} bytes at ${start} that is not UTF-8`);
    }
  }

  /** A copy of at most `maxBytes` of the bytes at `pointer`. */
  copy(pointer: number, length: number, maxBytes: number): Uint8Array {
    const size = length >>> 0;
    const start = this.range(pointer, size, 1);
    return this.#bytes.slice(start, start + Math.min(size, maxBytes));
  }

  /** Fills `size` bytes at `at` with zeros, after a check of their range; answers the unsigned offset. */
  zeros(at: number, size: number, align: number): number {
    const start = this.range(at, size, align);
    this.#bytes.fill(0, start, start + size);
    return start;
  }

  loadList<T>(at: number, size: number, align: number, load: (guest: Guest, at: number) => T): readonly T[] {
    return this.liftList(this.u32(at), this.u32(at + 4), size, align, load);
  }

  liftList<T>(pointer: number, length: number, size: number, align: number, load: (guest: Guest, at: number) => T): readonly T[] {
    const count = length >>> 0;
    const start = this.range(pointer, count * size, align);
    this.#charge(count * (size + elementCost));
    const list: T[] = [];
    for (let index = 0; index < count; index += 1) list.push(load(this, start + index * size));
    return list;
  }

  storeU8(at: number, value: number): void {
    this.#view.setUint8(at, requireInteger(value, 0, 0xff));
  }
  storeU16(at: number, value: number): void {
    this.#view.setUint16(at, requireInteger(value, 0, 0xffff), true);
  }
  storeU32(at: number, value: number): void {
    this.#view.setUint32(at, requireInteger(value, 0, 0xffff_ffff), true);
  }
  storeS32(at: number, value: number): void {
    this.#view.setInt32(at, requireInteger(value, -0x8000_0000, 0x7fff_ffff), true);
  }
  storeU64(at: number, value: number): void {
    this.#view.setBigUint64(at, BigInt(requireInteger(value, 0, Number.MAX_SAFE_INTEGER)), true);
  }
  storeBool(at: number, value: boolean): void {
    this.#view.setUint8(at, value ? 1 : 0);
  }

  storeString(at: number, value: string): void {
    const length = Buffer.byteLength(value);
    const pointer = this.#text(value, length);
    this.#view.setUint32(at, pointer, true);
    this.#view.setUint32(at + 4, length, true);
  }

  lowerString(value: string, out: number[]): void {
    const length = Buffer.byteLength(value);
    out.push(this.#text(value, length), length);
  }

  lowerU32(value: number, out: number[]): void {
    out.push(requireInteger(value, 0, 0xffff_ffff));
  }

  storeList<T>(at: number, list: readonly T[], size: number, align: number, store: (at: number, value: T) => void): void {
    const pointer = this.#elements(list, size, align, store);
    this.#view.setUint32(at, pointer, true);
    this.#view.setUint32(at + 4, list.length, true);
  }

  lowerList<T>(list: readonly T[], size: number, align: number, out: number[], store: (at: number, value: T) => void): void {
    out.push(this.#elements(list, size, align, store), list.length);
  }

  // An empty list needs no allocation: any aligned pointer is valid.
  #elements<T>(list: readonly T[], size: number, align: number, store: (at: number, value: T) => void): number {
    if (list.length === 0) return align;
    const pointer = this.alloc(list.length * size, align);
    for (const [index, value] of list.entries()) store(pointer + index * size, value);
    return pointer;
  }

  #text(value: string, length: number): number {
    if (length === 0) return 1;
    const pointer = this.alloc(length, 1);
    encoder.encodeInto(value, this.#bytes.subarray(pointer, pointer + length));
    return pointer;
  }

  #charge(bytes: number): void {
    this.#budget.output -= bytes;
    if (this.#budget.output < 0) throw new GuestFault("LIMIT_OUTPUT", "passed more than the limit of its output");
  }
}

function violated(what: string): GuestFault {
  return new GuestFault("ABI_VIOLATED", what);
}

/** Checks a number of the host: a wrong one is a defect of a capability. */
function requireInteger(value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`the host would pass ${String(value)} instead of an integer from ${min} to ${max}`);
}
