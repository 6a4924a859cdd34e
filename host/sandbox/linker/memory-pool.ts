// Pooled linear memory. To reserve and free the 8 GiB of address space of a memory took a quarter of a call. Therefore a memory that a
// guest has not grown is filled with zeros and used for the next call.

import type { PlanLinearMemory } from "./plan.ts";

const pageBytes = 65_536;
/** Wiping a larger memory costs more than a new memory. */
const maxMemoryBytes = 16 * pageBytes;
/** For each core module and process: enough for four nested calls with large memories, or for many suspended calls with small ones. */
const maxPooledBytes = 64 * pageBytes;

/** The pooled memories of one core module. */
export class MemoryPool {
  readonly #limits: PlanLinearMemory;
  readonly #free: WebAssembly.Memory[] = [];

  constructor(limits: PlanLinearMemory) {
    this.#limits = limits;
  }

  /** A memory of the initial size, filled with zeros. */
  take(): WebAssembly.Memory {
    const { initial, maximum } = this.#limits;
    return this.#free.pop() ?? new WebAssembly.Memory({ initial, maximum });
  }

  /** Takes back the memory of an ended call. Answers the bytes that are left to the garbage collector instead. */
  giveBack(memory: WebAssembly.Memory): number {
    const { buffer } = memory;
    const { byteLength } = buffer;
    if (
      byteLength > maxMemoryBytes ||
      byteLength !== this.#limits.initial * pageBytes ||
      (this.#free.length + 1) * byteLength > maxPooledBytes
    ) {
      return byteLength;
    }
    new Uint8Array(buffer).fill(0);
    this.#free.push(memory);
    return 0;
  }
}
