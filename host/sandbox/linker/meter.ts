// The host's side of the meter that admission puts into a guest's code: asked every few milliseconds of the guest's time, it lets
// the guest go on or ends the call.

import { GuestFault } from "../abi/guest-fault.ts";

/** Under this name a metered module exports the table that the host is called through. */
export const meterExport = "plexus:meter";
/** And under this one its start function. */
export const startExport = "plexus:start";

/** Measures the time of the guest in one call; it stands while the host answers an import. */
export class Meter {
  private left: number;
  private since: number;
  private readonly limitMs: number;
  private readonly deadline: number;
  private readonly deadlineMs: number;

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
    this.left -= performance.now() - this.since;
  }

  /** The guest runs again. */
  resume(): void {
    this.since = performance.now();
  }

  /** Throws LIMIT_TIME when the guest's time or the call's is up. */
  ask(): void {
    const now = performance.now();
    if (now - this.since > this.left) throw new GuestFault("LIMIT_TIME", `used up its ${this.limitMs} ms`);
    if (now > this.deadline) {
      throw new GuestFault("LIMIT_TIME", `did not end within the call's ${Math.round(this.deadlineMs)} ms`);
    }
  }
}

// Calls are synchronous, so one meter runs at a time; a call within a call's import puts its own in front.
let running: Meter | undefined;

/** Runs `act` under the meter. */
export function metered<T>(meter: Meter, act: () => T): T {
  const outer = running;
  running = meter;
  try {
    return act();
  } finally {
    running = outer;
  }
}

// A table takes functions of WebAssembly only, so the host's function passes through a module of its own:
// (module (import "" "" (func)) (export "" (func 0)))
const passage = new WebAssembly.Module(
  Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 5, 1, 0, 0, 0, 0, 7, 4, 1, 0, 0, 0),
);
let ask: unknown;

/** Ties a metered instance to the meter that runs, then runs its start function. */
export function startMetered({ exports }: WebAssembly.Instance): void {
  const table = exports[meterExport];
  if (!(table instanceof WebAssembly.Table)) return;
  ask ??= new WebAssembly.Instance(passage, { "": { "": () => running?.ask() } }).exports[""];
  table.set(0, ask);
  const start = exports[startExport];
  if (typeof start === "function") start();
}
