// Compiled core modules by component. All calls in a process share them; instances are never shared.

import type { Callable } from "./linker/call.ts";
import { MemoryPool } from "./linker/memory-pool.ts";
import type { LinkPlan } from "./linker/plan.ts";

/** The parts of an admitted component that are needed to compile and link it. */
export interface Compilable {
  readonly key: string;
  readonly plan: LinkPlan;
  readonly modules: readonly Uint8Array[];
}

/** Compiles each component once; drops the least recently used component if there are too many. */
export class CompiledComponents {
  readonly #maxComponents: number;
  readonly #compiled = new Map<string, Callable>();

  constructor(maxComponents = 32) {
    this.#maxComponents = maxComponents;
  }

  /** The compiled component with this key; undefined if there is none. */
  get(key: string): Callable | undefined {
    const found = this.#compiled.get(key);
    if (found === undefined) return undefined;
    this.#compiled.delete(key);
    this.#compiled.set(key, found);
    return found;
  }

  /** Compiles a component. Throws WebAssembly.CompileError if V8 refuses a module. */
  add({ key, plan, modules }: Compilable): Callable {
    const memories: MemoryPool[] = [];
    for (const [module, limits] of Object.entries(plan.memories)) memories[Number(module)] = new MemoryPool(limits);
    const callable = { plan, modules: modules.map((bytes) => new WebAssembly.Module(bytes)), memories };
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size >= this.#maxComponents && oldest !== undefined) this.#compiled.delete(oldest);
    this.#compiled.set(key, callable);
    return callable;
  }
}
