// Inserts a meter into a guest's code. Every function and every loop iteration subtracts its cost from a counter. When the counter is used
// up, the guest calls the host, which returns or throws. The meter needs no watching thread (V8's own watchdog starts one for each call: 0.25 ms
// of a step's 1.2), counts only the guest's time, and ends the guest with an exception that it cannot catch.

import { readValueType } from "../binary/core-types.ts";
import { type IndexSpaces, Instructions } from "../binary/instructions.ts";
import type { Reader } from "../../../wit/binary/reader.ts";
import type { WorkBudget } from "../binary/work-budget.ts";
import type { CoreFunctionType } from "../binary/core-types.ts";
import { CodeCosts, type CodeTypes } from "./code-costs.ts";
import { quantum } from "../linker/meter.ts";
import { ByteWriter, joined, leb, lebLength, signedLeb } from "../binary/writer.ts";

/** Cost of an instruction on a whole memory or table: the guest calls the host after four of them. */
const bulkCost = quantum / 4;

/** Indices of the meter's definitions in the module. */
export interface MeterIndices {
  /** The global with the counter. */
  readonly counter: number;
  /** The function that calls the host. */
  readonly meterCall: number;
}

interface MeteredPlace {
  /** Offset of the instruction before which the cost is subtracted. */
  readonly at: number;
  cost: number;
}

interface MeteredBody {
  readonly body: Reader;
  readonly places: readonly MeteredPlace[];
  /** Bytes of the body with its meter. */
  readonly length: number;
}

/** The facts about a module that the meter needs to measure the module's code. */
export interface MeteredModule extends CodeTypes {
  readonly counts: IndexSpaces;
  readonly definedFunctions: readonly CoreFunctionType[];
}

/**
 * The content of the code section with a meter in every body, followed by the `further` bodies. Refuses code that names an index outside
 * the module's, because the meter's definitions have these indices, and code with more metered places or machine code than `budget` has left.
 */
export function meteredCode(
  reader: Reader,
  indices: MeterIndices,
  module: MeteredModule,
  further: readonly Uint8Array[],
  budget: WorkBudget,
): Uint8Array {
  const meter = new MeterInserter(indices, module, budget);
  const bodies: MeteredBody[] = [];
  reader.count("function bodies");
  for (const type of module.definedFunctions) {
    const body = reader.take(reader.u32("a body's size"), "a function body");
    bodies.push(meter.measured(body, type));
  }
  const lengths = [...bodies, ...further].map(({ length }) => lebLength(length) + length);
  const writer = new ByteWriter(lengths.reduce((sum, length) => sum + length, lebLength(lengths.length)));
  writer.leb(lengths.length);
  for (const body of bodies) meter.write(body, writer);
  for (const body of further) {
    writer.leb(body.length);
    writer.part(body);
  }
  return writer.bytes;
}

/** The body of the function that calls the host, through the only entry of `table`, and then refills the counter. */
export function meterCallBody(indices: MeterIndices, table: number, type: number): Uint8Array {
  return joined([
    Uint8Array.of(0x00, 0x41, 0x00, 0x11), // no locals; i32.const 0; call_indirect
    leb(type),
    leb(table),
    Uint8Array.of(0x41), // i32.const
    signedLeb(quantum),
    Uint8Array.of(0x24), // global.set
    leb(indices.counter),
    Uint8Array.of(0x0b),
  ]);
}

class MeterInserter {
  /** The instructions before the cost. */
  readonly #prefix: Uint8Array;
  /** The instructions after the cost. */
  readonly #suffix: Uint8Array;
  readonly #spaces: IndexSpaces;
  readonly #budget: WorkBudget;
  readonly #costs: CodeCosts;
  /** Costs as LEB128: most of a component's places have one of some hundred costs. */
  readonly #encodedCosts = new Map<number, Uint8Array>();

  constructor({ counter, meterCall }: MeterIndices, module: MeteredModule, budget: WorkBudget) {
    this.#spaces = module.counts;
    this.#budget = budget;
    this.#costs = new CodeCosts(module, budget);
    const index = leb(counter);
    this.#prefix = joined([Uint8Array.of(0x23), index, Uint8Array.of(0x41)]); // global.get; i32.const
    this.#suffix = joined([
      Uint8Array.of(0x6b, 0x24), // i32.sub; global.set
      index,
      Uint8Array.of(0x23), // global.get
      index,
      Uint8Array.of(0x41, 0x00, 0x48, 0x04, 0x40, 0x10), // i32.const 0; i32.lt_s; if; call
      leb(meterCall),
      Uint8Array.of(0x0b),
    ]);
  }

  /** Finds the places of a body. */
  measured(body: Reader, type: CoreFunctionType): MeteredBody {
    const places = meteredPlaces(body, type, this.#spaces, this.#budget, this.#costs);
    const fixed = this.#prefix.length + this.#suffix.length;
    const length = places.reduce((sum, { cost }) => sum + fixed + this.#cost(cost).length, body.end - body.start);
    return { body, places, length };
  }

  /** Writes a body's length, and the body with its meter. */
  write({ body, places, length }: MeteredBody, writer: ByteWriter): void {
    writer.leb(length);
    let copied = body.start;
    for (const { at, cost } of places) {
      writer.part(body.slice(copied, at));
      writer.part(this.#prefix);
      writer.part(this.#cost(cost));
      writer.part(this.#suffix);
      copied = at;
    }
    writer.part(body.slice(copied, body.end));
  }

  #cost(cost: number): Uint8Array {
    let encoded = this.#encodedCosts.get(cost);
    if (encoded === undefined) {
      encoded = signedLeb(cost);
      this.#encodedCosts.set(cost, encoded);
    }
    return encoded;
  }
}

/**
 * The places to meter: the function's start, the start of every loop, and every bulk instruction. The cost is the length of the code. The same
 * walk counts the code's `costs` of compilation.
 */
function meteredPlaces(
  body: Reader,
  type: CoreFunctionType,
  spaces: IndexSpaces,
  budget: WorkBudget,
  costs: CodeCosts,
): readonly MeteredPlace[] {
  const locals = body.again();
  // Each call of a function fills its locals with zeros, so the locals count as code.
  let zeros = 0;
  for (let left = locals.count("locals", 50_000); left > 0; left -= 1) {
    zeros += locals.u32("a number of locals");
    readValueType(locals);
  }
  const code = new Instructions(body.bytes, locals.pos, body.end, spaces);
  const places: MeteredPlace[] = [];
  const meter = (at: number, cost: number): MeteredPlace => {
    budget.spend("meteredPlaces", 1, at);
    const place = { at, cost };
    places.push(place);
    return place;
  };
  meter(code.pos, Math.min(quantum, body.end - code.pos + zeros));
  const open: (MeteredPlace | undefined)[] = [];
  costs.begin(type, zeros, body.end - body.start);
  while (!code.atEnd) {
    const kind = code.next();
    costs.add(code);
    if (kind === "other") continue;
    if (kind === "bulk") meter(code.at, bulkCost);
    else if (kind === "end") {
      const loop = open.pop();
      if (loop !== undefined) loop.cost = Math.min(quantum, code.at - loop.at + 1);
    } else {
      open.push(kind === "loop" ? meter(code.pos, quantum) : undefined);
    }
  }
  costs.end(body.start);
  return places;
}
