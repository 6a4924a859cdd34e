// The parts of the WebAssembly JavaScript API that the sandbox uses. TypeScript declares them only in its library for browsers.

// oxlint-disable typescript/no-extraneous-class -- the API's class has no methods.
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
  /** A global of type i32: the only ones that the sandbox reads. */
  class Global {
    readonly value: number;
  }
  /** An import that suspends the guest until the promise of `func` settles. */
  class Suspending {
    constructor(func: (...args: number[]) => unknown);
  }
  /** Wraps an exported function: a call answers a promise, and its imports may suspend it. */
  function promising(func: unknown): (...args: number[]) => Promise<unknown>;
  /** A `Suspending` import was called without a `promising` call, for example by a start function or an allocator. */
  class SuspendError extends Error {}
  /** Whether the bytes are a valid module. */
  function validate(bytes: Uint8Array): boolean;
  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}
}
