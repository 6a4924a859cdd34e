// The one-shot brain's code as scripts for which V8 keeps a code cache, and the program that runs them.

import { createHash } from "node:crypto";

import type { OutputChunk } from "rolldown";

/** The chunk behind which all lies that only a delegate needs. */
const delegatesChunk = /^delegates-for-one-call-/u;

/**
 * All chunks that the one-shot brain may load, as two scripts: what every call may need, and what a delegate needs. A script's value is an
 * object of functions, by chunk; the first one names the second where a chunk is there. Node's own compile cache holds only what is
 * compiled when a module is loaded, not the functions that run later; V8's cache of one script, made after it has run, holds both.
 * The parser of YAML stays a file: few calls need it.
 */
export function packed(chunks: readonly OutputChunk[]): ReadonlyMap<string, string> {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const reached = (from: string, passes: (name: string) => boolean): ReadonlySet<string> => {
    const names = new Set([from]);
    for (const name of names) {
      const { imports = [], dynamicImports = [] } = byName.get(name) ?? {};
      for (const next of [...imports, ...dynamicImports]) if (passes(next)) names.add(next);
    }
    return names;
  };
  const ownCode = (name: string): boolean => byName.get(name)?.moduleIds.some((id) => id.includes("node_modules")) === false;
  const common = reached("one-shot.cjs", (name) => ownCode(name) && !delegatesChunk.test(name));
  const all = reached("one-shot.cjs", ownCode);
  const forDelegates = [...all].filter((name) => !common.has(name));
  if (!forDelegates.some((name) => delegatesChunk.test(name))) throw new Error(`no chunk is called ${delegatesChunk.source}`);
  const functionOf = (name: string): string =>
    `${JSON.stringify(`./${name}`)}: function (exports, require, module, __filename, __dirname) {\n${byName.get(name)?.code}\n}`;
  const elsewhere = forDelegates.map((name) => `${JSON.stringify(`./${name}`)}: "delegates.js"`);
  return new Map([
    ["one-shot.js", headed([...[...common].map(functionOf), ...elsewhere])],
    ["delegates.js", headed(forDelegates.map(functionOf))],
  ]);
}

/** A script of these members, headed by a digest that names its cache: V8 itself compares no more than the length of the source. */
function headed(members: readonly string[]): string {
  // ASCII, so that it can be read, and kept by V8, as one byte for each character.
  const code = `({\n${members.join(",\n")}\n})\n`.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `// ${createHash("sha256").update(code).digest("hex").slice(0, digestLength)}\n${code}`;
}

const digestLength = 16;

export interface BootstrapInit {
  /** Where the scripts are: an expression. */
  readonly directory: string;
  /** Whether to write the caches at the end, of what ran and of what was in them. */
  readonly record: boolean;
}

/** The program that runs the scripts, with their caches where there are good ones: V8 refuses those of other flags or another version. */
export function oneShotBootstrap({ directory, record }: BootstrapInit): string {
  const recording = 'process.on("exit", () => require("node:fs").writeFileSync(cache, script.createCachedData()));';
  return `"use strict";
const { readFileSync } = require("node:fs");
const { Script, constants } = require("node:vm");
const directory = ${directory};
const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
function run(name) {
  const filename = directory + "/" + name;
  const source = readFileSync(filename, "latin1");
  const cache = directory + "/" + source.slice(3, ${3 + digestLength}) + ".cache";
  let cachedData;
  try {
    cachedData = readFileSync(cache);
  } catch {}
  const script = new Script(source, { filename, cachedData, importModuleDynamically });${record ? `\n  ${recording}` : ""}
  return script.runInThisContext();
}
const chunks = run("one-shot.js");
const modules = new Map();
function load(name) {
  let module = modules.get(name);
  if (module !== undefined) return module.exports;
  if (typeof chunks[name] === "string") Object.assign(chunks, run(chunks[name]));
  const define = chunks[name];
  if (define === undefined) return require(name.startsWith("./") ? directory + name.slice(1) : name);
  module = { exports: {} };
  modules.set(name, module);
  define(module.exports, load, module, directory + name.slice(1), directory);
  return module.exports;
}
load("./one-shot.cjs");
`;
}
