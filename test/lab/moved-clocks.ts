// A daemon loads this module before its program. It adds offsets to the daemon's clocks, so that a test can let them jump, stand still, or pass a wait.
// The file CLOCKS has both offsets in milliseconds: of the monotonic clock, and of the wall clock. `setClocks` of set-clocks.ts writes the file.

import { readFileSync } from "node:fs";

const file = process.env["CLOCKS"] ?? "";
const monotonic = process.hrtime.bigint.bind(process.hrtime);
const startedAt = monotonic();
const wall = Date.now.bind(Date);

function offset(index: number): number {
  return Number(readFileSync(file, "utf8").split(" ")[index]);
}

function movedNanoseconds(): bigint {
  return monotonic() + BigInt(Math.round(offset(0) * 1e6));
}

function movedTimeOfDay(): number {
  return wall() + offset(1);
}

function hrtime(since?: [number, number]): [number, number] {
  const nanoseconds = movedNanoseconds() - (since === undefined ? 0n : BigInt(since[0]) * 1_000_000_000n + BigInt(since[1]));
  return [Number(nanoseconds / 1_000_000_000n), Number(nanoseconds % 1_000_000_000n)];
}

// Each way to read a clock is replaced: Node's implementations do not call each other.
performance.now = () => Number(movedNanoseconds() - startedAt) / 1e6;
process.hrtime = Object.assign(hrtime, { bigint: movedNanoseconds });
globalThis.Date = new Proxy(Date, {
  construct: (target, args: [], made) =>
    Reflect.construct(target, args.length === 0 ? [movedTimeOfDay()] : args, made === globalThis.Date ? target : made) as Date,
  get: (target, key, receiver) => (key === "now" ? movedTimeOfDay : (Reflect.get(target, key, receiver) as unknown)),
});
