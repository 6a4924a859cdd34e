import { parse } from "@bytecodealliance/jco";
import { expect, test } from "vitest";
import { coreImports } from "./core-module.ts";
import { withUniqueImports } from "./go-imports.ts";

test("a function that is imported twice gets a number, and the module stays valid", async () => {
  const binary = await parse(`(module
    (import "wasi" "fd_write" (func (param i32) (result i32)))
    (import "other" "fd_write" (func))
    (import "wasi" "fd_write" (func (param i32 i64)))
    (memory (export "memory") 1))`);
  const { imports, module } = withUniqueImports(new Uint8Array(binary));
  expect(imports).toEqual([
    { module: "wasi", name: "fd_write", uniqueName: "fd_write", params: ["i32"], results: ["i32"] },
    { module: "other", name: "fd_write", uniqueName: "fd_write", params: [], results: [] },
    { module: "wasi", name: "fd_write", uniqueName: "fd_write_2", params: ["i32", "i64"], results: [] },
  ]);
  expect(() => new WebAssembly.Module(Uint8Array.from(module))).not.toThrow();
  expect(coreImports(module)).toEqual(imports.map(({ module: from, uniqueName }) => ({ module: from, name: uniqueName })));
});

test("a module without imports stays as it is, and the import of a memory is refused", async () => {
  const without = new Uint8Array(await parse("(module)"));
  expect(withUniqueImports(without)).toEqual({ imports: [], module: without });
  const memory = new Uint8Array(await parse('(module (import "env" "memory" (memory 1)))'));
  expect(() => withUniqueImports(memory)).toThrow("env memory is imported but is not a function");
});
