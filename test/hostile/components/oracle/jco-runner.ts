// Runs a component through jco's transpiled code, the oracle for Plexus' linker and glue. Use it only for components of this repository,
// because jco's code has no sandbox.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { transpile } from "@bytecodealliance/jco";
import { plainValue } from "../../../../delegates/sdk/testing/plain-value.ts";
import type { SyncImports, Verb } from "../../../../host/sandbox/runner.ts";

export type OracleAnswer = { readonly ok: unknown } | { readonly err: unknown };

interface Instance {
  readonly plugin: Readonly<Record<string, (request: unknown) => unknown>>;
}

/** Transpiles a component. The answered function makes a new instance for each call. */
export async function translate(name: string, component: Uint8Array) {
  const { files } = await transpile(component, { name, instantiation: "sync", noTypescript: true, tlaCompat: false });
  const directory = resolve("dist/test/oracle", name);
  mkdirSync(directory, { recursive: true });
  const modules = new Map<string, WebAssembly.Module>();
  for (const [file, content] of Object.entries(files)) {
    if (file.endsWith(".wasm")) modules.set(file, new WebAssembly.Module(content));
    else if (file.endsWith(".js")) writeFileSync(join(directory, file.replace(/\.js$/, ".mjs")), content);
  }
  const { instantiate } = await import(pathToFileURL(join(directory, `${name}.mjs`)).href);
  return (verb: Verb, request: unknown, imports: SyncImports): OracleAnswer => {
    const instance: Instance = instantiate((path: string) => modules.get(path), importsOf(imports));
    try {
      return { ok: instance.plugin[verb]?.(request) };
    } catch (error) {
      if (typeof error === "object" && error !== null && "payload" in error) return { err: error.payload };
      throw error;
    }
  };
}

// jco expects functions that return a result's ok and throw its err.
function importsOf(imports: SyncImports): Record<string, unknown> {
  const bag: Record<string, unknown> = { "cni:delegate/types": {} };
  for (const [capability, functions] of Object.entries(imports)) {
    bag[`cni:delegate/${capability}`] = Object.fromEntries(
      Object.entries(functions).map(([name, func]) => [
        name,
        (...args: unknown[]) => {
          const answer: unknown = Reflect.apply(func, functions, args.map(plainValue));
          if (typeof answer !== "object" || answer === null) return answer;
          if ("err" in answer) throw answer.err;
          return "ok" in answer ? answer.ok : undefined;
        },
      ]),
    );
  }
  return bag;
}
