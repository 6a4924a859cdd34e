// The tests' oracle: runs a component through jco's translation. jco generates JavaScript from the component, so the oracle is
// only for components built from this project's sources, in tests; it never runs on a node.

import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { transpile } from "@bytecodealliance/jco";

/** Functions by interface (`ns:pkg/name`, without version) and camel-case name. */
export type OracleImports = Readonly<Record<string, Readonly<Record<string, (...args: never[]) => unknown>>>>;

/** Exported functions by interface (short name) and camel-case name. */
export type OracleExports = Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => unknown>>>>;

/** Creates a fresh instance. A result's error is thrown in the form that {@link isOracleError} recognises. */
export type Instantiate = (imports: OracleImports) => OracleExports;

interface Translated {
  instantiate(load: (path: string) => WebAssembly.Module, imports: object): OracleExports;
}

const done = new Map<string, Promise<Instantiate>>();

/** Translates a component, once per process. */
export function translate(component: Uint8Array): Promise<Instantiate> {
  const digest = createHash("sha256").update(component).digest("hex");
  const before = done.get(digest);
  if (before !== undefined) return before;
  const made = run(component);
  done.set(digest, made);
  return made;
}

async function run(component: Uint8Array): Promise<Instantiate> {
  const { files } = await transpile(component, {
    name: "component",
    instantiation: "sync",
    nodejsCompat: false,
  });
  const directory = await mkdtemp(join(tmpdir(), "plexus-oracle-"));
  const modules = new Map<string, WebAssembly.Module>();
  for (const [name, bytes] of Object.entries(files)) {
    if (name.endsWith(".wasm")) modules.set(name, new WebAssembly.Module(Uint8Array.from(bytes)));
    else if (name.endsWith(".js")) await writeFile(join(directory, "component.mjs"), bytes);
  }
  const translated: Translated = await import(pathToFileURL(join(directory, "component.mjs")).href);
  await rm(directory, { recursive: true });
  const load = (path: string): WebAssembly.Module => {
    const module = modules.get(path);
    if (module === undefined) throw new Error(`the translation has no ${path}`);
    return module;
  };
  return (imports) => translated.instantiate(load, Object.assign(Object.create(null), imports));
}

/** Whether an exported function threw its result's error instead of a trap. */
export function isOracleError(thrown: unknown): thrown is { readonly payload: unknown } {
  return thrown instanceof Error && "payload" in thrown;
}

/** Throws an import's result error in the form that the translation expects. */
export function oracleError(payload: unknown): Error {
  return Object.assign(new Error("result error"), { payload });
}
