// The tests' oracle: runs a component through jco's translation. jco generates JavaScript from the component, so the oracle is
// only for components built from this project's sources, in tests; it never runs on a node.

import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defaultCacheDir, digestOf, fromCache } from "../build/content-cache.ts";

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
  const directory = await mkdtemp(join(tmpdir(), "plexus-oracle-"));
  const modules = new Map<string, WebAssembly.Module>();
  for (const [name, bytes] of await translationOf(component)) {
    if (name.endsWith(".wasm")) modules.set(name, new WebAssembly.Module(bytes));
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

/** The files of jco's translation, by name. The cache saves jco's start, which takes longer than the translation. */
async function translationOf(
  component: Uint8Array,
): Promise<readonly (readonly [name: string, bytes: Uint8Array<ArrayBuffer>])[]> {
  const options = { name: "component", instantiation: "sync", nodejsCompat: false } as const;
  const make = async (): Promise<{ bytes: Uint8Array }> => {
    const { transpile } = await import("@bytecodealliance/jco");
    const { files } = await transpile(component, options);
    const texts = Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]);
    return { bytes: Buffer.from(JSON.stringify(texts)) };
  };
  const key = await digestOf(["oracle", JSON.stringify(options), component]);
  const found = await fromCache(defaultCacheDir, key, make);
  const bytes = "cachedBytes" in found ? found.cachedBytes : found.made.bytes;
  const texts: readonly (readonly [string, string])[] = JSON.parse(Buffer.from(bytes).toString());
  return texts.map(([name, base64]) => [name, Uint8Array.from(Buffer.from(base64, "base64"))] as const);
}

/** Whether an exported function threw its result's error instead of a trap. */
export function isOracleError(thrown: unknown): thrown is { readonly payload: unknown } {
  return thrown instanceof Error && "payload" in thrown;
}

/** Throws an import's result error in the form that the translation expects. */
export function oracleError(payload: unknown): Error {
  return Object.assign(new Error("result error"), { payload });
}
