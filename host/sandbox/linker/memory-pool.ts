// Linear memories between calls. A memory costs 8 GiB of address space to be made and given back, which was a quarter of a call;
// one that a guest has not grown is wiped instead and handed to the next call. Nothing of a call is left in it but zeros.

import type { PlanLinearMemory } from "./plan.ts";

const pageBytes = 65_536;
/** Wiping more than that costs more than a new one. */
const mostBytes = 16 * pageBytes;
/** Of one component, in one process: enough for four that run within each other, or for many small ones that wait at the same time. */
const mostSpareBytes = 64 * pageBytes;

/** The memories of one core module. */
export class MemoryPool {
  readonly #limits: PlanLinearMemory;
  readonly #spare: WebAssembly.Memory[] = [];

  constructor(limits: PlanLinearMemory) {
    this.#limits = limits;
  }

  /** A memory of the initial size, full of zeros. */
  take(): WebAssembly.Memory {
    const { initial, maximum } = this.#limits;
    return this.#spare.pop() ?? new WebAssembly.Memory({ initial, maximum });
  }

  /** Takes a memory back whose instance nobody calls any more; answers how many bytes of it are left to be collected. */
  giveBack(memory: WebAssembly.Memory): number {
    const { buffer } = memory;
    const { byteLength } = buffer;
    if (
      byteLength > mostBytes ||
      byteLength !== this.#limits.initial * pageBytes ||
      (this.#spare.length + 1) * byteLength > mostSpareBytes
    ) {
      return byteLength;
    }
    new Uint8Array(buffer).fill(0);
    this.#spare.push(memory);
    return 0;
  }
}
