import { parse } from "@bytecodealliance/jco";
import { describe, expect, it, vi } from "vitest";
import { readCoreModule } from "../binary/core-module.ts";
import { Reader } from "../../../wit/binary/reader.ts";
import { leb } from "../binary/writer.ts";
import { GuestFault } from "../abi/guest-fault.ts";
import { defaultLimits } from "../limits.ts";
import { memoryImport } from "../linker/link.ts";
import { Meter, MeterFunction, meterExport, quantum } from "../linker/meter.ts";
import { type BoundModule, boundModule } from "./bound-module.ts";
import { maxWork, WorkBudget } from "../binary/work-budget.ts";
import { maxOfFunction } from "./code-costs.ts";

function boundWith(bytes: Uint8Array): BoundModule {
  const budget = new WorkBudget();
  return boundModule(readCoreModule(new Reader(bytes), budget), defaultLimits, budget);
}

async function bound(text: string): Promise<Uint8Array> {
  return boundBytes(await parse(text));
}

async function instance(text: string, imports: object = {}): Promise<WebAssembly.Instance> {
  const { bytes, memory } = boundWith(await parse(text));
  const memoryImports = memory === undefined ? {} : { [memoryImport]: { [memoryImport]: new WebAssembly.Memory(memory) } };
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { ...imports, ...memoryImports });
}

function call(made: WebAssembly.Instance, name: string, ...args: readonly unknown[]): unknown {
  const found = made.exports[name];
  if (typeof found !== "function") throw new Error(`no function ${name}`);
  return Reflect.apply(found, undefined, args);
}

/** Code with every kind of immediate, scalar and vector. */
const everything = `(module
  (type $none (func)) (type $pair (func (param i32) (result i32)))
  (memory 1 4) (table $t 4 funcref) (table $u 2 funcref) (global $g (mut i64) (i64.const -9223372036854775808))
  (elem $e declare func $id) (elem (i32.const 0) $id $id) (elem $p funcref (ref.func $id)) (data $d "abcdefgh")
  (func $id (type $pair) (local.get 0))
  (func (export "run") (param $n i32) (result i32) (local $sum i32) (local $f f64) (local $v v128) (local i64 i64)
    (nop)
    (global.set $g (i64.sub (global.get $g) (i64.const -1234567890123456789)))
    (local.set $f (f64.add (f64.const 1.5) (f64.promote_f32 (f32.const 2.5))))
    (local.set $sum (i32.trunc_sat_f64_s (local.get $f)))
    (memory.init $d (i32.const 16) (i32.const 0) (i32.const 8))
    (memory.copy (i32.const 32) (i32.const 16) (i32.const 8))
    (memory.fill (i32.const 40) (i32.const 7) (i32.const 3))
    (data.drop $d)
    (table.init $u $p (i32.const 0) (i32.const 0) (i32.const 1))
    (elem.drop $p)
    (table.copy $t $u (i32.const 2) (i32.const 0) (i32.const 1))
    (table.fill $t (i32.const 3) (ref.null func) (i32.const 1))
    (drop (table.grow $t (ref.func $id) (i32.const 1)))
    (table.set $t (i32.const 1) (table.get $t (i32.const 0)))
    (local.set $sum (i32.add (local.get $sum) (table.size $t)))
    (local.set $sum (i32.add (local.get $sum) (ref.is_null (table.get $t (i32.const 3)))))
    (local.set $sum (i32.add (local.get $sum) (call_indirect $t (type $pair) (i32.const 5) (i32.const 2))))
    (drop (memory.grow (i32.const 1)))
    (local.set $sum (i32.add (local.get $sum) (memory.size)))
    (local.set $sum (i32.add (local.get $sum) (i32.load8_u offset=300 align=1 (i32.const 2))))
    (i64.store offset=8 (i32.const 64) (i64.extend_i32_s (i32.const -129)))
    (local.set $v (v128.load (i32.const 64)))
    (local.set $v (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 31 (local.get $v) (v128.const i32x4 1 2 3 4)))
    (local.set $v (v128.load8_lane 3 (i32.const 32) (local.get $v)))
    (local.set $v (i32x4.replace_lane 1 (local.get $v) (i32.const 9)))
    (local.set $v (v128.or (local.get $v) (v128.load32_zero (i32.const 32))))
    (local.set $v (i32x4.relaxed_laneselect (local.get $v) (v128.load8_splat (i32.const 40)) (v128.not (local.get $v))))
    (local.set $sum (i32.add (local.get $sum) (i32x4.extract_lane 1 (local.get $v))))
    (local.set $sum (select (result i32) (local.get $sum) (i32.const 0) (i32.const 1)))
    (block $out (result i32)
      (loop $again (param) (result i32)
        (local.set $sum (i32.add (local.get $sum) (call $id (local.get $n))))
        (if (i32.eqz (local.tee $n (i32.sub (local.get $n) (i32.const 1))))
          (then (br $out (local.get $sum))) (else (nop)))
        (block $c (block $b (block $a (br_table $a $b $c (i32.const 1))) (unreachable)) (br $again))
        (br_if $again (i32.const 1))
        (i32.const 0)))
    (return_call $id))
  )`;

const ample = new Meter(60_000, 60_000);

function startMetered(made: WebAssembly.Instance): void {
  MeterFunction.forMeter(ample).start(made);
}

function metered(made: WebAssembly.Instance, meter: Meter, act: () => unknown): unknown {
  const meterFunction = MeterFunction.forMeter(meter);
  meterFunction.start(made);
  try {
    return act();
  } finally {
    meterFunction.release();
  }
}

describe("a module with a meter", () => {
  it("computes the same results as without a meter, with any instructions", async () => {
    const module = new WebAssembly.Module(await parse(everything));
    const answers: unknown[] = [];
    for (const n of [1, 2, 999, 1000]) {
      const made = await instance(everything);
      startMetered(made);
      answers.push(call(made, "run", n));
      expect(answers.at(-1)).toBe(call(new WebAssembly.Instance(module), "run", n));
    }
    expect(new Set(answers).size).toBe(4);
  });

  it("calls the host repeatedly during a loop, and is ended by it", async () => {
    const made = await instance(`(module (func (export "spin") (loop $l (br $l))))`);
    startMetered(made);
    expect(() => metered(made, new Meter(20, 60_000), () => call(made, "spin"))).toThrow(
      new GuestFault("LIMIT_TIME", "used up its 20 ms"),
    );
    expect(() => metered(made, new Meter(1000, 20), () => call(made, "spin"))).toThrow(/did not end within the call's 20 ms/);
  });

  it("does not count the host's time", async () => {
    // The meter knows the last switch between guest and host in this process, so the clock goes on from the real time.
    let clock = performance.now();
    const now = vi.spyOn(performance, "now").mockImplementation(() => clock);
    const ran = vi.spyOn(process, "threadCpuUsage").mockImplementation(() => ({ user: clock * 1000, system: 0 }));
    try {
      const meter = new Meter(50, 10_000);
      const host = (): void => {
        meter.pause();
        clock += 80;
        meter.resume();
      };
      const text = `(module (import "h" "h" (func $h)) (func (export "run") (param $n i32) (result i32)
        (call $h)
        (loop $l (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br_if $l (local.get $n)))
        (i32.const 7)))`;
      const made = await instance(text, { h: { h: host } });
      expect(metered(made, meter, () => call(made, "run", 1_000_000))).toBe(7);
      clock += 51;
      expect(() => metered(made, meter, () => call(made, "run", 1_000_000))).toThrow(/used up its 50 ms/);
    } finally {
      now.mockRestore();
      ran.mockRestore();
    }
  });

  it("does not count the guest's waits for a CPU", async () => {
    let waited = 0;
    const wall = performance.now.bind(performance);
    const now = vi.spyOn(performance, "now").mockImplementation(() => wall() + waited);
    try {
      const made = await instance(`(module (func (export "spin") (loop $l (br $l))))`);
      const meter = new Meter(60, 10_000);
      const ran = process.threadCpuUsage();
      waited = 5_000;
      expect(() => metered(made, meter, () => call(made, "spin"))).toThrow(/used up its 60 ms/);
      const { user, system } = process.threadCpuUsage(ran);
      expect(user + system).toBeGreaterThan(50_000);
    } finally {
      now.mockRestore();
    }
  });

  it("runs its start function with the meter, not at instantiation", async () => {
    const text = `(module (global $g (export "g") (mut i32) (i32.const 0)) (start $s)
      (func $s (global.set $g (i32.const 3))) (func (export "get") (result i32) (global.get $g)))`;
    const made = await instance(text);
    expect(call(made, "get")).toBe(0);
    startMetered(made);
    expect(call(made, "get")).toBe(3);
  });

  it("has its own meter in a call within an import", async () => {
    const inner = await instance(`(module (func (export "spin") (loop $l (br $l))))`);
    const host = (): void => {
      expect(() => metered(inner, new Meter(10, 60_000), () => call(inner, "spin"))).toThrow(/used up its 10 ms/);
    };
    const text = `(module (import "h" "h" (func $h)) (func (export "run") (call $h) (loop $l (br $l))))`;
    const outer = await instance(text, { h: { h: host } });
    expect(() => metered(outer, new Meter(50, 60_000), () => call(outer, "run"))).toThrow(/used up its 50 ms/);
  });

  it("needs no meter without code", async () => {
    const made = await instance(`(module (memory (export "m") 1))`);
    expect(made.exports[meterExport]).toBeUndefined();
    startMetered(made);
  });
});

describe("instructions that a delegate may not use", () => {
  it.each([
    ["exceptions", "exception handling", `(module (func (block $b (try_table (catch_all $b)))))`],
    ["atomics", "an atomic instruction", `(module (memory 1) (func (drop (i32.atomic.load (i32.const 0)))))`],
    ["typed references", "a call through a typed reference", `(module (type $t (func)) (func (call_ref $t (ref.null $t))))`],
    ["GC", "a GC instruction", `(module (func (drop (ref.i31 (i32.const 1)))))`],
  ])("are refused by name: %s", async (_, named, text) => {
    await expect(bound(text)).rejects.toThrow(`${named} is not allowed in a delegate`);
  });
});

// Binary modules: the text format cannot name an index that does not exist.
const oneType = [1, 4, 1, 0x60, 0, 0];
/** 33 types, so that type 32 exists: a reader that does not know the type takes its index 0x20 for local.get. */
const manyTypes = [1, 100, 33, ...Array.from({ length: 33 }, () => [0x60, 0, 0]).flat()];

/** A module of one function () -> () with these locals and instructions, exported as "run". */
function raw(body: readonly number[], types: readonly number[] = oneType): Uint8Array {
  const preamble = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const exported = [7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 0];
  const code = [...leb(body.length)].concat(body);
  const head = [...preamble, ...types, 3, 2, 1, 0, ...exported, 10, ...leb(code.length + 1), 1];
  return Uint8Array.from(head.concat(code));
}

/** A function with `count` empty loops. */
function loops(count: number): Uint8Array {
  return raw([0, ...Array.from({ length: count }, () => [0x03, 0x40, 0x0b]).flat(), 0x0b]);
}

function boundBytes(bytes: Uint8Array): Uint8Array {
  return boundWith(bytes).bytes;
}

describe("a guest that knows the meter", () => {
  it.each([
    ["sets the counter", "global 0", [0, 0x03, 0x40, 0x41, 0xc0, 0x84, 0x3d, 0x24, 0x00, 0x0c, 0x00, 0x0b, 0x0b]],
    ["reads the counter", "global 0", [0, 0x23, 0x00, 0x1a, 0x0b]],
    ["replaces the host's function by its own", "table 0", [0, 0x41, 0x00, 0xd0, 0x70, 0x26, 0x00, 0x0b]],
    ["fills the meter's table", "table 0", [0, 0x41, 0, 0xd0, 0x70, 0x41, 1, 0xfc, 17, 0, 0x0b]],
    ["copies over the meter's table", "table 0", [0, 0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 14, 0, 0, 0x0b]],
    ["calls through the meter's table", "table 0", [0, 0x41, 0, 0x11, 0, 0, 0x0b]],
    ["calls the function that calls the host", "func 1", [0, 0x10, 1, 0x0b]],
  ])("is refused: %s", (_, named, body) => {
    expect(() => boundBytes(raw(body))).toThrow(`an instruction names ${named}, which does not exist`);
  });

  it.each([
    // block (ref null 32): the following loop would be taken for the operand of a local.get.
    ["a block", [0, 0x02, 0x63, 0x20, 0x03, 0x00, 0x0c, 0x00, 0x0b, 0xd0, 0x20, 0x0b, 0x1a, 0x0b], "a value of type 0x63"],
    ["a local", [1, 1, 0x63, 0x20, 0x03, 0x00, 0x0c, 0x00, 0x0b, 0x0b], "a typed reference"],
    ["a selection", [0, 0xd0, 0x20, 0xd0, 0x20, 0x41, 0, 0x1c, 1, 0x63, 0x20, 0x1a, 0x0b], "a value of type 0x63"],
    [
      "a block whose type is a negative number of two bytes",
      [0, 0x02, 0xc0, 0x7f, 0x0b, 0x0b],
      "a block's type is not a type index",
    ],
  ])("is refused: a typed reference as the type of %s hides what follows", (_, body, named) => {
    expect(() => boundBytes(raw(body, manyTypes))).toThrow(named);
  });

  it("is refused: has so many loops that metering them would use up the engine's memory", () => {
    expect(() => boundBytes(loops(maxWork.meteredPlaces))).toThrow(
      `more than ${maxWork.meteredPlaces} functions, loops and bulk instructions: ${maxWork.meteredPlaces + 1}`,
    );
    expect(() => boundBytes(loops(maxOfFunction.loops))).not.toThrow();
  });

  it("is charged for the locals that its functions fill with zeros", async () => {
    const locals = 40_000;
    const made = await instance(`(module (global $n (mut i32) (i32.const 0))
      (func (export "calls") (result i32) (global.get $n))
      (func $f (local${" i64".repeat(locals)}) (global.set $n (i32.add (global.get $n) (i32.const 1))))
      (func (export "run") (loop $l (call $f) (br $l))))`);
    startMetered(made);
    const meter = new Meter(10_000, 10_000);
    meter.check = () => {
      throw new Error("checked");
    };
    expect(() => metered(made, meter, () => call(made, "run"))).toThrow("checked");
    expect(Number(call(made, "calls")) * locals).toBeLessThanOrEqual(quantum);
  });
});
