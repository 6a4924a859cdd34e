// Instantiates a component by its plan: core modules through V8's own API, with import objects that have no prototype and only the
// plan's imports. No code is generated from the guest.

import { Guest, type Budget } from "../abi/guest.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import type { AbiVersion } from "../abi/versions.ts";
import type { Limits } from "../limits.ts";
import type { CallState } from "./call-state.ts";
import { GuestOutput } from "./guest-output.ts";
import { isLogLevel } from "./log-import.ts";
import type { MeterFunction } from "./meter.ts";
import type { MemoryPool } from "./memory-pool.ts";
import type { LinkPlan, PlanItem, PlanMemory, PlanSource } from "./plan.ts";
import { streamFunction } from "./standard-streams.ts";

/** Calls a capability's function. The answer may be a promise only if the call's guest can be suspended. */
export type CapabilityCall = (capability: string, func: string, args: readonly unknown[]) => unknown;

/** The parts of one call that its instances use. */
export interface LinkContext {
  readonly limits: Limits;
  readonly state: CallState;
  readonly meterFunction: MeterFunction;
  readonly budget: Budget;
  readonly capability: CapabilityCall;
  /** Imported capabilities that are not granted. The lines of an ungranted log are dropped, and any other call ends the guest. */
  readonly ungranted: readonly string[];
}

/** A compiled component's plan and modules, which all its calls share. */
export interface Linkable {
  readonly plan: LinkPlan;
  readonly modules: readonly WebAssembly.Module[];
  /** Pooled memory by number of the core module; absent for a module without a memory. */
  readonly memories: readonly MemoryPool[];
}

/** Module and name of the memory import that admission puts in place of a core module's own memory. */
export const memoryImport = "plexus:memory";

type CoreFunction = (...args: number[]) => unknown;

/** The instances of one component for one call. No guest code runs before `begin`. */
export class LinkedComponent {
  readonly #component: Linkable;
  readonly #abi: AbiVersion;
  readonly #suspends: boolean;
  #context: LinkContext | undefined;
  #output: GuestOutput | undefined;
  readonly #instances: WebAssembly.Instance[] = [];
  readonly #guests = new Map<PlanMemory, Guest>();

  readonly #memories: { readonly pool: MemoryPool; readonly memory: WebAssembly.Memory }[] = [];

  /** `suspends`: every import except the log's suspends the guest; the caller then calls the verb with `WebAssembly.promising`. */
  constructor(component: Linkable, abi: AbiVersion, suspends: boolean) {
    this.#component = component;
    this.#abi = abi;
    this.#suspends = suspends;
    // Only a single instance is made here: a start function, which runs in `begin`, may change the exports that a later instance imports.
    if (component.plan.instances.length === 1) this.#instantiate(0);
  }

  /** Begins the call: makes the remaining instances and runs the start functions, on the call's time. */
  begin(context: LinkContext): void {
    this.#context = context;
    const mayLog = this.#component.plan.capabilities.includes("log") && !context.ungranted.includes("log");
    this.#output = new GuestOutput(
      context.limits,
      mayLog ? (...line) => void context.capability("log", "write", line) : undefined,
    );
    for (let index = 0; index < this.#component.plan.instances.length; index++)
      context.meterFunction.start(this.#instances[index] ?? this.#instantiate(index));
  }

  #instantiate(index: number): WebAssembly.Instance {
    const { plan, modules, memories } = this.#component;
    const { module, imports } = plan.instances[index] ?? { module: -1, imports: [] };
    const compiled = modules[module];
    if (compiled === undefined) throw new Error(`the plan names core module ${module}, which does not exist`);
    const importObject: Record<string, Record<string, unknown>> = Object.create(null);
    for (const { module: from, name, source } of imports) {
      const namespace = (importObject[from] ??= Object.create(null) as Record<string, unknown>);
      namespace[name] = this.#importValue(source);
    }
    const pool = memories[module];
    if (pool !== undefined) importObject[memoryImport] = this.#takeMemory(pool);
    for (const namespace of Object.values(importObject)) Object.freeze(namespace);
    const instance = new WebAssembly.Instance(compiled, Object.freeze(importObject));
    this.#instances.push(instance);
    return instance;
  }

  /** An exported function. */
  func(item: PlanItem): CoreFunction {
    const found = this.#item(item);
    if (!isFunction(found)) throw new Error(`"${item.name}" is not a function`);
    return found;
  }

  /** The guest's memory and allocator, looked up at first use: an import function is made before the instance that exports them. */
  guest(through: PlanMemory): Guest {
    let guest = this.#guests.get(through);
    if (guest === undefined) {
      const { memory, realloc } = through;
      guest = new Guest(this.#memory(memory), this.#item(realloc), this.#running().budget);
      this.#guests.set(through, guest);
    }
    return guest;
  }

  /** Ends the call's output. Answers the last lines of error, or an empty text. */
  endOutput(): string {
    this.#output?.flush();
    return this.#output?.lastLines() ?? "";
  }

  /** Size in bytes of the largest linear memory. */
  memoryBytes(): number {
    let maxBytes = 0;
    for (const { exports } of this.#instances) {
      for (const item of Object.values(exports))
        if (item instanceof WebAssembly.Memory) maxBytes = Math.max(maxBytes, item.buffer.byteLength);
    }
    return maxBytes;
  }

  /**
   * Returns the memories to their pools; no guest code may run afterwards. Answers the bytes that are left to the garbage collector. The
   * instances are detached from the call, because V8 keeps an instance and everything that its imports reference until a full collection.
   */
  release(): number {
    this.detach();
    return this.#memories.splice(0).reduce((left, { pool, memory }) => left + pool.giveBack(memory), 0);
  }

  /** As `release`, after an error: the memories are left to the garbage collector. */
  detach(): void {
    this.#context = undefined;
    this.#output = undefined;
    this.#instances.length = 0;
    this.#guests.clear();
  }

  #takeMemory(pool: MemoryPool): Record<string, unknown> {
    const memory = pool.take();
    this.#memories.push({ pool, memory });
    const namespace: Record<string, unknown> = Object.create(null);
    namespace[memoryImport] = memory;
    return namespace;
  }

  #importValue(source: PlanSource): unknown {
    switch (source.kind) {
      case "item":
        return this.#item(source.item);
      case "inert":
        return () => {
          throw new GuestFault("DELEGATE_TRAPPED", `called ${source.name}, which a delegate cannot use`);
        };
      case "drop":
        return () => undefined;
      case "stream":
        return this.#stream(source);
      case "capability":
        return this.#capability(source);
    }
  }

  #stream({ name, core, through }: PlanSource & { readonly kind: "stream" }): CoreFunction {
    const found = streamFunction(name, core);
    if (found === undefined) throw new Error(`the plan names ${name}, which is no stream's function`);
    const memory = (): Guest => {
      if (through === undefined) throw new GuestFault("ABI_VIOLATED", `calls ${name} without a memory`);
      const guest = this.guest(through);
      guest.refresh();
      return guest;
    };
    return (...flat) => {
      let answer: number | undefined;
      this.#running().state.import(name, () => {
        if (this.#output !== undefined) answer = found.call(memory, flat, this.#output);
      });
      return answer;
    };
  }

  #capability(source: PlanSource & { readonly kind: "capability" }): CoreFunction | WebAssembly.Suspending {
    const { interface: name, name: func, through } = source;
    const glue = this.#abi.imports[name]?.[func];
    if (glue === undefined) throw new Error(`the plan names ${name}.${func}, which has no glue`);
    const fullName = `${name}.${func}`;
    if (fullName === "log.write") {
      return (...flat) => {
        const { state, capability, ungranted } = this.#running();
        state.import(fullName, () => {
          if (ungranted.includes(name)) return;
          const guest = this.guest(through);
          guest.refresh();
          this.#output?.writeLog(guest, flat, (level, message) => {
            if (isLogLevel(level)) capability(name, glue.host, [level, message]);
          });
        });
      };
    }
    const ask = (flat: readonly number[]): unknown => {
      const { capability, ungranted } = this.#running();
      if (ungranted.includes(name)) throw new GuestFault("DELEGATE_TRAPPED", `called ${fullName}, which is ${uncallable}`);
      const guest = this.guest(through);
      guest.refresh();
      return capability(name, glue.host, glue.lift(guest, ...flat));
    };
    const deliver = (flat: readonly number[], value: unknown): void => {
      const guest = this.guest(through);
      // The memory may have grown while the guest was suspended, which detaches the views.
      guest.refresh();
      // The last flat parameter is the address of the result.
      glue.lower?.(guest, value, flat[flat.length - 1] ?? 0);
    };
    if (!this.#suspends) {
      return (...flat) => {
        this.#running().state.import(
          fullName,
          () => ask(flat),
          (value) => deliver(flat, value),
        );
      };
    }
    return new WebAssembly.Suspending((...flat: number[]) =>
      this.#running().state.importSuspended(
        fullName,
        () => ask(flat),
        (value) => deliver(flat, value),
      ),
    );
  }

  /** The context of the call. Throws if the call has ended. */
  #running(): LinkContext {
    if (this.#context === undefined) throw new GuestFault("ABI_VIOLATED", "calls an import after its call has ended");
    return this.#context;
  }

  #item({ instance, name }: PlanItem): unknown {
    return this.#instances[instance]?.exports[name];
  }

  #memory(item: PlanItem): WebAssembly.Memory {
    const found = this.#item(item);
    if (found instanceof WebAssembly.Memory) return found;
    throw new GuestFault("ABI_VIOLATED", "calls an import before its memory exists");
  }
}

const uncallable = "optional and not granted; request.call.granted names the granted capabilities";

function isFunction(value: unknown): value is CoreFunction {
  return typeof value === "function";
}
