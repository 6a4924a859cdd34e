// What the sandbox uses of V8's WebAssembly API: TypeScript has it in its library of the browser only.

// oxlint-disable typescript/no-extraneous-class -- it is a class without methods.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports?: object);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum?: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Table {
    readonly length: number;
    set(index: number, value: unknown): void;
  }
  /** An import that suspends the guest until what `func` answers is there. */
  class Suspending {
    constructor(func: (...args: number[]) => unknown);
  }
  /** The same exported function; its calls answer a promise and may be suspended. */
  function promising(func: unknown): (...args: number[]) => Promise<unknown>;
  /** An import that suspends was called where nothing can be: by a start function, by an allocator. */
  class SuspendError extends Error {}
  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}
}
