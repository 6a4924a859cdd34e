// Instantiates a component by its plan: core modules through V8's own API, with import objects that have no prototype
// and nothing in them but what the plan names. Nothing is generated from the guest.

import { Guest, type Budget } from "../abi/guest.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import type { AbiVersion } from "../abi/versions.ts";
import type { Limits } from "../limits.ts";
import type { CallState } from "./call-state.ts";
import { isLogLevel, LogBudget } from "./log-import.ts";
import type { MeterPassage } from "./meter.ts";
import type { MemoryPool } from "./memory-pool.ts";
import type { LinkPlan, PlanItem, PlanMemory, PlanSource } from "./plan.ts";

/** Answers a capability's function: at once, or later where the call's guest can be suspended. */
export type CapabilityCall = (capability: string, func: string, args: readonly unknown[]) => unknown;

export interface LinkContext {
  readonly limits: Limits;
  readonly state: CallState;
  readonly meter: MeterPassage;
  readonly budget: Budget;
  readonly capability: CapabilityCall;
}

/** What is linked, the same for all calls of a component. */
export interface Linkable {
  readonly plan: LinkPlan;
  readonly modules: readonly WebAssembly.Module[];
  /** By number of the core module; those without a memory of their own have none. */
  readonly memories: readonly MemoryPool[];
}

/** Under this name, twice, a core module imports the memory that was its own. */
export const memoryImport = "plexus:memory";

type CoreFunction = (...args: number[]) => unknown;

/** One component's instances, for one call. No code of the guest runs before `begin`. */
export class LinkedComponent {
  private readonly component: Linkable;
  private readonly abi: AbiVersion;
  private readonly suspends: boolean;
  private context: LinkContext | undefined;
  private log: LogBudget | undefined;
  private readonly instances: WebAssembly.Instance[] = [];
  private readonly guests = new Map<PlanMemory, Guest>();

  private readonly memories: { readonly pool: MemoryPool; readonly memory: WebAssembly.Memory }[] = [];

  /** `suspends`: the guest is suspended while an import is answered, but for its log's; its verb is then to be called with `promising`. */
  constructor(component: Linkable, abi: AbiVersion, suspends: boolean) {
    this.component = component;
    this.abi = abi;
    this.suspends = suspends;
    // A start function may change what a later instance takes over.
    if (component.plan.instances.length === 1) this.instantiate(0);
  }

  /** The call begins: what of the guest runs, runs for it. */
  begin(context: LinkContext): void {
    this.context = context;
    this.log = new LogBudget(context.limits);
    for (let index = 0; index < this.component.plan.instances.length; index++)
      context.meter.start(this.instances[index] ?? this.instantiate(index));
  }

  private instantiate(index: number): WebAssembly.Instance {
    const { plan, modules, memories } = this.component;
    const { module, imports } = plan.instances[index] ?? { module: -1, imports: [] };
    const compiled = modules[module];
    if (compiled === undefined) throw new Error(`the plan names core module ${module}, which is not there`);
    const bags: Record<string, Record<string, unknown>> = Object.create(null);
    for (const { module: from, name, source } of imports) {
      const bag = (bags[from] ??= Object.create(null) as Record<string, unknown>);
      bag[name] = this.source(source);
    }
    const pool = memories[module];
    if (pool !== undefined) bags[memoryImport] = this.lend(pool);
    for (const bag of Object.values(bags)) Object.freeze(bag);
    const instance = new WebAssembly.Instance(compiled, Object.freeze(bags));
    this.instances.push(instance);
    return instance;
  }

  /** An exported function. */
  func(item: PlanItem): CoreFunction {
    const found = this.item(item);
    if (!isFunction(found)) throw new Error(`"${item.name}" is no function`);
    return found;
  }

  /** Memory and allocator, looked up when first used: an import is tied before the module that owns them exists. */
  guest(through: PlanMemory): Guest {
    let guest = this.guests.get(through);
    if (guest === undefined) {
      const { memory, realloc } = through;
      guest = new Guest(this.memory(memory), this.item(realloc), this.running().budget);
      this.guests.set(through, guest);
    }
    return guest;
  }

  /** Bytes of linear memory, the largest there is. */
  memoryBytes(): number {
    let most = 0;
    for (const { exports } of this.instances) {
      for (const item of Object.values(exports))
        if (item instanceof WebAssembly.Memory) most = Math.max(most, item.buffer.byteLength);
    }
    return most;
  }

  /**
   * Gives the memories back, when nothing of the guest will run any more; answers the bytes that are left to be collected. V8 keeps an
   * instance, and all that its imports lead to, until it collects its whole heap: so they lead to nothing of the call from here on.
   */
  end(): number {
    this.drop();
    return this.memories.splice(0).reduce((left, { pool, memory }) => left + pool.giveBack(memory), 0);
  }

  /** As `end`, for a call that broke: its memories are left to the collector. */
  drop(): void {
    this.context = undefined;
    this.log = undefined;
    this.instances.length = 0;
    this.guests.clear();
  }

  private lend(pool: MemoryPool): Record<string, unknown> {
    const memory = pool.take();
    this.memories.push({ pool, memory });
    const bag: Record<string, unknown> = Object.create(null);
    bag[memoryImport] = memory;
    return bag;
  }

  private source(source: PlanSource): unknown {
    switch (source.kind) {
      case "item":
        return this.item(source.item);
      case "inert":
        return () => {
          throw new GuestFault("DELEGATE_TRAPPED", `called ${source.name}, which delegates don't have`);
        };
      case "capability":
        return this.capability(source);
    }
  }

  private capability(source: PlanSource & { readonly kind: "capability" }): CoreFunction | WebAssembly.Suspending {
    const { interface: name, name: func, through } = source;
    const glue = this.abi.imports[name]?.[func];
    if (glue === undefined) throw new Error(`the plan names ${name}.${func}, which has no glue`);
    const what = `${name}.${func}`;
    if (what === "log.write") {
      return (...flat) => {
        const { state, capability } = this.running();
        state.import(what, () => {
          const guest = this.guest(through);
          guest.refresh();
          this.log?.write(guest, flat, (level, message) => {
            if (isLogLevel(level)) capability(name, glue.host, [level, message]);
          });
        });
      };
    }
    const ask = (flat: readonly number[]): unknown => {
      const guest = this.guest(through);
      guest.refresh();
      return this.running().capability(name, glue.host, glue.lift(guest, ...flat));
    };
    const hand = (flat: readonly number[], value: unknown): void => {
      const guest = this.guest(through);
      // While it was suspended the views may have become those of another size.
      guest.refresh();
      // Behind the parameters stands the address of the result.
      glue.lower?.(guest, value, flat[flat.length - 1] ?? 0);
    };
    if (!this.suspends) {
      return (...flat) => {
        this.running().state.import(
          what,
          () => ask(flat),
          (value) => hand(flat, value),
        );
      };
    }
    return new WebAssembly.Suspending((...flat: number[]) =>
      this.running().state.wait(
        what,
        () => ask(flat),
        (value) => hand(flat, value),
      ),
    );
  }

  /** What belongs to the call; throws where it has ended. */
  private running(): LinkContext {
    if (this.context === undefined) throw new GuestFault("ABI_VIOLATED", "calls an import after its call has ended");
    return this.context;
  }

  private item({ instance, name }: PlanItem): unknown {
    return this.instances[instance]?.exports[name];
  }

  private memory(item: PlanItem): WebAssembly.Memory {
    const found = this.item(item);
    if (found instanceof WebAssembly.Memory) return found;
    throw new GuestFault("ABI_VIOLATED", "calls an import before its memory exists");
  }
}

function isFunction(value: unknown): value is CoreFunction {
  return typeof value === "function";
}
