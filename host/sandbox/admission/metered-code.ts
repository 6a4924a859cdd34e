// Puts a meter into a guest's code: every function and every turn of a loop takes from a counter what it may cost, and where
// the counter runs out the host is asked whether to go on. So a guest's time is limited without a thread that watches it (V8's
// own watchdog starts one for each call: 0.25 ms of a step's 1.2), to the guest's own time and not its host's, and nothing
// that the guest can catch ends it.

import { readValueType } from "../binary/core-types.ts";
import { type IndexSpaces, Instructions } from "../binary/instructions.ts";
import type { Reader } from "../binary/reader.ts";
import { refuse } from "../binary/refusal.ts";
import { joined, leb, signedLeb } from "../binary/writer.ts";

/** What the counter starts with, in bytes of code: a millisecond or a few. */
export const quantum = 1_000_000;

/** What an instruction costs that works on a whole memory or table: after four of them the host is asked. */
const bulkCost = quantum / 4;

/**
 * How often a module's code may be metered: a component that is nothing but loops would grow sevenfold, and take a gigabyte and
 * seconds of the brain to do so. A compiler's 4 MiB have a tenth of it.
 */
export const mostPoints = 200_000;

/** Where the parts of the meter stand in the module: the counter among the globals, the function that asks among the functions. */
export interface MeterPlace {
  readonly counter: number;
  readonly ask: number;
}

interface Point {
  /** Offset of the instruction before which the meter takes. */
  readonly at: number;
  cost: number;
}

/**
 * The code section's content with the meter in every body, and `further` bodies (with their sizes) behind them. Refuses code
 * that names anything outside `spaces`: there the meter stands.
 */
export function meteredCode(reader: Reader, place: MeterPlace, spaces: IndexSpaces, further: readonly Uint8Array[]): Uint8Array {
  const meter = new Meter(place);
  const bodies: Uint8Array[] = [];
  for (let left = reader.count("function bodies"); left > 0; left -= 1) {
    const body = reader.take(reader.u32("a body's size"), "a function body");
    bodies.push(meter.body(body, spaces));
  }
  const all = [...bodies, ...further].flatMap((body) => [leb(body.length), body]);
  return joined([leb(bodies.length + further.length), ...all]);
}

/** The body of the function that asks: calls the host through the only entry of `table`, then fills the counter up. */
export function askBody(place: MeterPlace, table: number, type: number): Uint8Array {
  return joined([
    Uint8Array.of(0x00, 0x41, 0x00, 0x11), // no locals; i32.const 0; call_indirect
    leb(type),
    leb(table),
    Uint8Array.of(0x41), // i32.const
    signedLeb(quantum),
    Uint8Array.of(0x24), // global.set
    leb(place.counter),
    Uint8Array.of(0x0b),
  ]);
}

class Meter {
  /** What stands before and behind the cost. */
  private readonly before: Uint8Array;
  private readonly behind: Uint8Array;
  private left = mostPoints;

  constructor({ counter, ask }: MeterPlace) {
    const index = leb(counter);
    this.before = joined([Uint8Array.of(0x23), index, Uint8Array.of(0x41)]); // global.get; i32.const
    this.behind = joined([
      Uint8Array.of(0x6b, 0x24), // i32.sub; global.set
      index,
      Uint8Array.of(0x23), // global.get
      index,
      Uint8Array.of(0x41, 0x00, 0x48, 0x04, 0x40, 0x10), // i32.const 0; i32.lt_s; if; call
      leb(ask),
      Uint8Array.of(0x0b),
    ]);
  }

  body(body: Reader, spaces: IndexSpaces): Uint8Array {
    const points = pointsOf(body, spaces, this.left);
    this.left -= points.length;
    const parts: Uint8Array[] = [];
    let copied = body.start;
    for (const { at, cost } of points) {
      parts.push(body.slice(copied, at), this.before, signedLeb(cost), this.behind);
      copied = at;
    }
    parts.push(body.slice(copied, body.end));
    return joined(parts);
  }
}

/** The function's start, every loop's, and every instruction on whole memories: each with the length of the code behind it. */
function pointsOf(body: Reader, spaces: IndexSpaces, most: number): readonly Point[] {
  const locals = body.again();
  // A function fills its locals with zeros whenever it is called.
  let zeros = 0;
  for (let left = locals.count("locals", 50_000); left > 0; left -= 1) {
    zeros += locals.u32("a number of locals");
    readValueType(locals);
  }
  const code = new Instructions(body.bytes, locals.pos, body.end, spaces);
  const points: Point[] = [{ at: code.pos, cost: Math.min(quantum, body.end - code.pos + zeros) }];
  const open: (Point | undefined)[] = [];
  while (!code.atEnd) {
    if (points.length > most) refuse(`code with more than ${mostPoints} functions, loops and bulk instructions`, code.pos);
    const kind = code.next();
    if (kind === "other") continue;
    if (kind === "bulk") points.push({ at: code.at, cost: bulkCost });
    else if (kind === "end") {
      const loop = open.pop();
      if (loop !== undefined) loop.cost = Math.min(quantum, code.at - loop.at + 1);
    } else {
      const loop = kind === "loop" ? { at: code.pos, cost: quantum } : undefined;
      open.push(loop);
      if (loop !== undefined) points.push(loop);
    }
  }
  return points;
}
