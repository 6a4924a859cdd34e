// The host's side of the meter that admission inserts into a guest's code. The guest calls the meter every few milliseconds of its time;
// the meter returns or ends the call.

import { GuestFault } from "../abi/guest-fault.ts";

/** Name of a metered module's exported table. Its entry 0 is the function through which the guest calls the meter. */
export const meterExport = "plexus:meter";
/** Name under which a metered module exports its start function. */
export const startExport = "plexus:start";
/** Name under which a module that counts its executed code exports the meter's counter. */
export const counterExport = "plexus:counter";
/** The counter's initial value in bytes of code: one to a few milliseconds. */
export const quantum = 1_000_000;

// Time of the last switch between a guest and the host. A suspended guest resumes in a microtask, so another guest may run between its
// answer and its resumption. The present run of a guest never began before the last switch.
let lastSwitch = 0;

/** CPU time of this thread, in ms. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Measures the guest's own time in one call, without its imports. The wall clock is cheap to read, so it is read first. Only if the limit
 * has passed on the wall clock, the thread's CPU time is read: the guest may have waited for a CPU on a busy machine.
 */
export class Meter {
  #left: number;
  #since: number;
  readonly #limitMs: number;
  readonly #deadline: number;
  readonly #deadlineMs: number;
  readonly #cpuMsAtStart = threadCpuMs();
  readonly #counters: WebAssembly.Global[] = [];
  #refilled = 0;

  /** `limitMs` limits the guest's own time, `deadlineMs` the whole call. */
  constructor(limitMs: number, deadlineMs: number) {
    this.#limitMs = limitMs;
    this.#deadlineMs = deadlineMs;
    this.#left = limitMs;
    this.#since = performance.now();
    this.#deadline = this.#since + deadlineMs;
  }

  /** The host runs from now on. */
  pause(): void {
    const now = performance.now();
    this.#left -= now - Math.max(this.#since, lastSwitch);
    lastSwitch = now;
  }

  /** The guest runs from now on. */
  resume(): void {
    this.#since = performance.now();
    lastSwitch = this.#since;
  }

  /** Counts the code of an instance by its counter. */
  count(counter: WebAssembly.Global): void {
    this.#counters.push(counter);
  }

  /** The executed code so far, in bytes of function bodies and loops that were entered; undefined if no instance counts. */
  get fuel(): number | undefined {
    if (this.#counters.length === 0) return undefined;
    return this.#counters.reduce((sum, { value }) => sum + quantum - value, this.#refilled);
  }

  /** Throws LIMIT_TIME if the guest's time limit or the call's deadline has passed. */
  check(): void {
    // The instance that asks has used up its counter, and sets it to the quantum next.
    for (const { value } of this.#counters) if (value < 0) this.#refilled += quantum - value;
    const now = performance.now();
    if (now - Math.max(this.#since, lastSwitch) > this.#left && threadCpuMs() - this.#cpuMsAtStart > this.#limitMs)
      throw new GuestFault("LIMIT_TIME", `used up its ${this.#limitMs} ms`);
    if (now > this.#deadline) throw lateFault(this.#deadlineMs);
  }
}

/** The fault of a call that did not end within its `deadlineMs`. */
export function lateFault(deadlineMs: number): GuestFault {
  return new GuestFault("LIMIT_TIME", `did not end within the call's ${Math.round(deadlineMs)} ms`);
}

// A table holds only WebAssembly functions, so this module re-exports the host's function as one:
// (module (import "" "" (func)) (export "" (func 0)))
const functionModule = new WebAssembly.Module(
  Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 5, 1, 0, 0, 0, 0, 7, 4, 1, 0, 0, 0),
);

/** A WebAssembly function that calls the meter of one call. Making one takes 5 us, so they are reused. */
export class MeterFunction {
  static readonly #free: MeterFunction[] = [];
  #meter: Meter | undefined;
  readonly #func: unknown;

  private constructor() {
    this.#func = new WebAssembly.Instance(functionModule, { "": { "": () => this.#meter?.check() } }).exports[""];
  }

  /** A function that calls `meter`. */
  static forMeter(meter: Meter): MeterFunction {
    const meterFunction = MeterFunction.#free.pop() ?? new MeterFunction();
    meterFunction.#meter = meter;
    return meterFunction;
  }

  /** Makes the function available to another call. No guest code of this call may run afterwards. */
  release(): void {
    this.#meter = undefined;
    MeterFunction.#free.push(this);
  }

  /** Connects a metered instance to the meter, then runs its start function. */
  start({ exports }: WebAssembly.Instance): void {
    const table = exports[meterExport];
    if (!(table instanceof WebAssembly.Table)) return;
    table.set(0, this.#func);
    const counter = exports[counterExport];
    if (counter instanceof WebAssembly.Global) this.#meter?.count(counter);
    const start = exports[startExport];
    if (typeof start === "function") start();
  }
}
