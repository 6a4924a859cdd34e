// The host's side of the meter that admission puts into a guest's code: asked every few milliseconds of the guest's time, it lets
// the guest go on or ends the call.

import { GuestFault } from "../abi/guest-fault.ts";

/** Under this name a metered module exports the table that the host is called through. */
export const meterExport = "plexus:meter";
/** And under this one its start function. */
export const startExport = "plexus:start";

// When a guest last gave way to the host, or the host to a guest. Guests that wait go on in microtasks, so that one may run between
// another's answer and its going on: no guest's stretch began before this.
let handedOver = 0;

/** CPU time of this thread, in ms. */
function ranMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Measures the time of the guest in one call; it stands while the host answers an import. The clock on the wall is cheap to read, so it
 * is asked first; a guest that it says has had its time may have waited for a CPU on a busy machine, which the thread's own time tells.
 */
export class Meter {
  private left: number;
  private since: number;
  private readonly limitMs: number;
  private readonly deadline: number;
  private readonly deadlineMs: number;
  private readonly ranBefore = ranMs();

  /** `limitMs` of the guest's own time, `deadlineMs` of all. */
  constructor(limitMs: number, deadlineMs: number) {
    this.limitMs = limitMs;
    this.deadlineMs = deadlineMs;
    this.left = limitMs;
    this.since = performance.now();
    this.deadline = this.since + deadlineMs;
  }

  /** The host works. */
  pause(): void {
    const now = performance.now();
    this.left -= now - Math.max(this.since, handedOver);
    handedOver = now;
  }

  /** The guest runs again. */
  resume(): void {
    this.since = performance.now();
    handedOver = this.since;
  }

  /** Throws LIMIT_TIME when the guest's time or the call's is up. */
  ask(): void {
    const now = performance.now();
    if (now - Math.max(this.since, handedOver) > this.left && ranMs() - this.ranBefore > this.limitMs)
      throw new GuestFault("LIMIT_TIME", `used up its ${this.limitMs} ms`);
    if (now > this.deadline) throw lateFault(this.deadlineMs);
  }
}

/** What ends a call of `deadlineMs` at its deadline. */
export function lateFault(deadlineMs: number): GuestFault {
  return new GuestFault("LIMIT_TIME", `did not end within the call's ${Math.round(deadlineMs)} ms`);
}

// A table takes functions of WebAssembly only, so the host's function passes through a module of its own:
// (module (import "" "" (func)) (export "" (func 0)))
const passage = new WebAssembly.Module(
  Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 5, 1, 0, 0, 0, 0, 7, 4, 1, 0, 0, 0),
);

/** The way from one call's instances to its meter. Making one takes 5 us, so they are used again. */
export class MeterPassage {
  private static readonly spare: MeterPassage[] = [];
  private meter: Meter | undefined;
  private readonly ask: unknown;

  private constructor() {
    this.ask = new WebAssembly.Instance(passage, { "": { "": () => this.meter?.ask() } }).exports[""];
  }

  /** The way to `meter`. */
  static to(meter: Meter): MeterPassage {
    const way = MeterPassage.spare.pop() ?? new MeterPassage();
    way.meter = meter;
    return way;
  }

  /** Nothing of the call will run any more. */
  close(): void {
    this.meter = undefined;
    MeterPassage.spare.push(this);
  }

  /** Ties a metered instance to the meter, then runs its start function. */
  start({ exports }: WebAssembly.Instance): void {
    const table = exports[meterExport];
    if (!(table instanceof WebAssembly.Table)) return;
    table.set(0, this.ask);
    const start = exports[startExport];
    if (typeof start === "function") start();
  }
}
