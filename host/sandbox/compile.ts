// Compiled core modules by component, shared by all calls in a process. Instances never are.

import type { Callable } from "./linker/call.ts";
import { MemoryPool } from "./linker/memory-pool.ts";
import type { LinkPlan } from "./linker/plan.ts";

export interface Compilable {
  readonly key: string;
  readonly plan: LinkPlan;
  readonly modules: readonly Uint8Array[];
}

/** Compiles each component once; forgets the one that was used least recently. */
export class CompiledComponents {
  private readonly most: number;
  private readonly compiled = new Map<string, Callable>();

  constructor(most = 32) {
    this.most = most;
  }

  /** The compiled component of this key, if it is known. */
  get(key: string): Callable | undefined {
    const found = this.compiled.get(key);
    if (found === undefined) return undefined;
    this.compiled.delete(key);
    this.compiled.set(key, found);
    return found;
  }

  /** Compiles; throws WebAssembly.CompileError for what V8 refuses. */
  add({ key, plan, modules }: Compilable): Callable {
    const memories: MemoryPool[] = [];
    for (const [module, limits] of Object.entries(plan.memories)) memories[Number(module)] = new MemoryPool(limits);
    const callable = { plan, modules: modules.map((bytes) => new WebAssembly.Module(bytes)), memories };
    const [oldest] = this.compiled.keys();
    if (this.compiled.size >= this.most && oldest !== undefined) this.compiled.delete(oldest);
    this.compiled.set(key, callable);
    return callable;
  }
}
