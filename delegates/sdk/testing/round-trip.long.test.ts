// Every type of the ABI, and every hard case of the canonical ABI, from host to guest to host to guest to host.

import { readFile } from "node:fs/promises";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { TypeRef, WitFunction, WitModel } from "../../../wit/model.ts";
import { camel } from "../../../wit/codegen/names.ts";
import { interfaceId } from "../../../wit/codegen/shapes.ts";
import { arbitraryOf, crossed } from "./arbitrary.ts";
import { buildEcho, type Echo } from "./echo.ts";
import { isOracleError, oracleError, translate, type OracleExports, type OracleImports } from "./jco-oracle.ts";

const nastyWit = await readFile(new URL("../../../wit/codegen/testing/nasty.wit", import.meta.url), "utf8");
const delegateWit = await readFile(new URL("../../../wit/1.0.0/delegate.wit", import.meta.url), "utf8");

/** The released ABI with a world that has a function for each of its types. */
const recordNames = [...delegateWit.matchAll(/^ {2}(?:record|enum) ([a-z-]+) /gm)].flatMap((found) => found[1] ?? []);
const interfaceOf = (name: string): string => {
  const at = delegateWit.search(new RegExp(`^ {2}(?:record|enum) ${name} `, "m"));
  return [...delegateWit.slice(0, at).matchAll(/^interface ([a-z]+) /gm)].at(-1)?.[1] ?? "";
};
const uses = recordNames.map((name) => `  use ${interfaceOf(name)}.{${name}};`);
const functions = recordNames.map((name) => `  echo-${name}: func(v: ${name}) -> ${name};`);
const lists = recordNames.map((name) => `  echo-list-of-${name}: func(v: list<${name}>) -> list<${name}>;`);
const abiWit = `${delegateWit}
interface echo {
${[...uses, ...functions, ...lists].join("\n")}
  echo-add: func(v: result<success, fault>) -> result<success, fault>;
  echo-del: func(v: result<_, fault>) -> result<_, fault>;
  echo-next: func(v: result<option<string>, fault>) -> result<option<string>, fault>;
  echo-held: func(v: result<list<string>, fault>) -> result<list<string>, fault>;
}
world echoes { import echo; export echo; }
`.replace("interface echo {", "interface echo {\n  use types.{fault as the-fault};");

interface Tagged {
  readonly tag: string;
  readonly val?: unknown;
}

/** Host functions that answer their arguments, and record them in `received`. */
function hostFor(model: WitModel, world: string, received: unknown[]): OracleImports {
  const imports = model.worlds[world]?.imports ?? [];
  return Object.fromEntries(
    imports.map((iface) => {
      const hostFunctions = Object.entries(model.interfaces[iface]?.functions ?? {}).map(([name, fn]) => [
        camel(name),
        (...args: unknown[]): unknown => {
          received.push(args);
          if (fn.result === null) return undefined;
          if (!answersWhole(fn)) return args;
          const [value] = args;
          if (!isResult(model, fn.result)) return value;
          const { tag, val } = value as Tagged;
          if (tag === "err") throw oracleError(val);
          return val;
        },
      ]);
      return [interfaceId(model, iface).replace(/@.*/, ""), Object.fromEntries(hostFunctions)];
    }),
  );
}

/** Whether the function has one parameter and a result of its type. Otherwise the result is the tuple of the parameters. */
function answersWhole(fn: WitFunction): boolean {
  return fn.params.length === 1 && JSON.stringify(fn.params[0]?.[1]) === JSON.stringify(fn.result);
}

function isResult(model: WitModel, type: TypeRef): boolean {
  if (typeof type === "string") return false;
  if ("result" in type) return true;
  if (!("ref" in type)) return false;
  const [iface = "", name = ""] = type.ref.split(".");
  const def = model.interfaces[iface]?.types[name];
  return def !== undefined && "alias" in def && isResult(model, def.alias);
}

function outcome(model: WitModel, fn: WitFunction, call: () => unknown): unknown {
  if (fn.result === null || !isResult(model, fn.result)) return call();
  try {
    const val = call();
    return val === undefined ? { tag: "ok" } : { tag: "ok", val };
  } catch (thrown) {
    if (!isOracleError(thrown)) throw thrown;
    return thrown.payload === undefined ? { tag: "err" } : { tag: "err", val: thrown.payload };
  }
}

/** Calls an exported function with random values, and expects host and caller to see them. */
function roundTrips(
  echo: Echo,
  exports: OracleExports,
  received: unknown[],
  iface: string,
  name: string,
  fn: WitFunction,
  runs: number,
): void {
  const call = exports[iface]?.[camel(name)];
  if (call === undefined) throw new Error(`no export ${iface}.${name}`);
  const params = fc.tuple(...fn.params.map(([, type]) => arbitraryOf(echo.model, type)));
  fc.assert(
    fc.property(params, (args) => {
      received.length = 0;
      const answer = outcome(echo.model, fn, () => call(...args));
      const expected = crossed(args);
      expect(crossed(received)).toEqual([expected]);
      if (fn.result === null) return;
      expect(crossed(answer)).toEqual(answersWhole(fn) && Array.isArray(expected) ? expected[0] : expected);
    }),
    { numRuns: runs },
  );
}

/** 0.1 in f32 differs from 0.1 in f64: a host gets an f32 as Math.fround rounds it, and fast-check's floats are so rounded. */
describe.each([
  ["the canonical ABI's hard cases", nastyWit, "nasty", ["echo", "store"]],
  ["the ABI's own records", abiWit, "echoes", ["echo"]],
])("X-11: %s", (_title, wit, world, interfaces) => {
  let echo: Echo;
  let exports: OracleExports;
  const received: unknown[] = [];
  beforeAll(async () => {
    echo = await buildEcho(wit, world);
    exports = (await translate(echo.component))(hostFor(echo.model, world, received));
  });

  const names = interfaces.flatMap((iface) => {
    const from = wit.search(new RegExp(`^interface ${iface} `, "m"));
    const text = wit.slice(from, wit.indexOf("\n}", from));
    return [...text.matchAll(/^ {2}([a-z0-9-]+): func/gm)].map((found) => [iface, found[1] ?? ""] as const);
  });
  test.each(names)("%s.%s returns its arguments unchanged", (iface, name) => {
    const fn = echo.model.interfaces[iface]?.functions[name];
    expect(fn).toBeDefined();
    if (fn !== undefined) roundTrips(echo, exports, received, iface, name, fn, 60);
  });
});

describe("sizes", () => {
  let echo: Echo;
  let exports: OracleExports;
  beforeAll(async () => {
    echo = await buildEcho(nastyWit, "nasty");
    exports = (await translate(echo.component))(hostFor(echo.model, "nasty", []));
  });
  const echoOf = (name: string, value: unknown): unknown => exports["echo"]?.[name]?.(value);

  test("a string of 64 KiB survives with one, two, three and four bytes for a character", () => {
    for (const unit of ["a", "é", "中", "😀"]) {
      const text = unit.repeat(65_536 / unit.length);
      expect(echoOf("doString", text)).toBe(text);
    }
  });

  test("only the lone surrogate in 64 KiB is replaced", () => {
    const text = `${"x".repeat(32_768)}\udfff${"y".repeat(32_767)}`;
    expect(echoOf("doString", text)).toBe(text.toWellFormed());
  });

  test("a list of 10 000 strings survives", () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `name ${i}`);
    expect(echoOf("doLists", [names])).toEqual([names]);
  });

  test("an instance of 4 MiB serves 100 calls with 64 KiB each way: a call's memory is released", () => {
    const big = "z".repeat(65_536);
    for (let i = 0; i < 100; i += 1) expect(echoOf("doString", big)).toBe(big);
  });
});

test("types and functions of another package survive, too", async () => {
  const wit = `package a:b;
interface i {
  use c:d/x@0.2.0.{t};
  f: func(v: t) -> t;
}
world w { import i; import c:d/x@0.2.0; export i; export c:d/x@0.2.0; }
package c:d@0.2.0 {
  interface x {
    record t { a: u32, b: string }
    g: func(v: list<t>) -> list<t>;
  }
}`;
  const { component, model } = await buildEcho(wit, "w");
  const exports = (await translate(component))(hostFor(model, "w", []));
  expect(exports["i"]?.["f"]?.({ a: 4_294_967_295, b: "é" })).toEqual({ a: 4_294_967_295, b: "é" });
  expect(exports["x"]?.["g"]?.([{ a: 1, b: "" }])).toEqual([{ a: 1, b: "" }]);
});
