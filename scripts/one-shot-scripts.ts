// Packs the code of the one-shot engine and of a sandbox process into scripts with a V8 code cache, and makes the programs that run them.

import { createHash } from "node:crypto";

import type { OutputChunk } from "rolldown";
import { cacheDirectory, cacheNameExpression, digestLength, guestScript } from "../host/node/install/code-cache-names.ts";

/** The chunk that imports all code that only delegates need. */
const delegatesChunk = /^delegates-for-one-call-/u;

/** The parts of features that the daemon, the controller and plexusctl load. A description names them, and the one-shot engine never asks for them. */
const otherPrograms = /\/features\/[^/]+\/(?:controller\.ts|finalizers\.ts|resident\.ts|metrics\.ts|ctl\/|daemon-|watched-)/u;
/** The parts of features that only delegates need. */
const delegatesPart = /\/features\/[^/]+\/leases\//u;

/** The program of a sandbox process: its chunk, which the build replaces by a program that runs the script. */
export const guestProgramName = "guest-process.cjs";

/**
 * Packs the chunks of the one-shot engine into two scripts: code that any call may need, and code that only delegates need; and those of a sandbox process into one. A script's value is
 * an object with a function for each chunk. For a chunk of the second script, the first script has the second script's name.
 * Scripts are used because Node's own compile cache holds only functions that are compiled while a module loads. V8's code cache of a script,
 * made after the script has run, also holds the functions that ran later. Chunks with packages (such as the YAML parser) stay files, because
 * few calls need them.
 */
export function packed(chunks: readonly OutputChunk[]): ReadonlyMap<string, string> {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const reachable = (from: string, passes: (name: string) => boolean): ReadonlySet<string> => {
    const names = new Set([from]);
    for (const name of names) {
      const { imports = [], dynamicImports = [] } = byName.get(name) ?? {};
      for (const next of [...imports, ...dynamicImports]) if (passes(next)) names.add(next);
    }
    return names;
  };
  const isProjectCode = (name: string): boolean =>
    byName.get(name)?.moduleIds.some((id) => id.includes("node_modules")) === false &&
    !otherPrograms.test(byName.get(name)?.facadeModuleId ?? "");
  const isForDelegates = (name: string): boolean =>
    delegatesChunk.test(name) || delegatesPart.test(byName.get(name)?.facadeModuleId ?? "");
  const common = reachable("once.cjs", (name) => isProjectCode(name) && !isForDelegates(name));
  const all = reachable("once.cjs", isProjectCode);
  const forDelegates = [...all].filter((name) => !common.has(name));
  if (!forDelegates.some((name) => delegatesChunk.test(name)))
    throw new Error(`no chunk has a name like ${delegatesChunk.source}`);
  const functionOf = (name: string): string =>
    `${JSON.stringify(`./${name}`)}: function (exports, require, module, __filename, __dirname) {\n${byName.get(name)?.code}\n}`;
  const references = forDelegates.map((name) => `${JSON.stringify(`./${name}`)}: "delegates.js"`);
  return new Map([
    ["once.js", withDigest([...[...common].map(functionOf), ...references])],
    ["delegates.js", withDigest(forDelegates.map(functionOf))],
    [guestScript, withDigest([...reachable(guestProgramName, isProjectCode)].map(functionOf))],
  ]);
}

/** A script with these members. Its first line is a digest, which names the cache file: V8 itself compares only the source's length. */
function withDigest(members: readonly string[]): string {
  // Only ASCII, so that V8 stores the source with one byte for each character.
  const code = `({\n${members.join(",\n")}\n})\n`.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `// ${createHash("sha256").update(code).digest("hex").slice(0, digestLength)}\n${code}`;
}

/** The settings of the program. */
export interface BootstrapInit {
  /** A JavaScript expression for the scripts' directory. */
  readonly directory: string;
  /** Whether to write the code caches at the end: the functions that ran, and those of the previous caches. */
  readonly record: boolean;
}

/** The program that runs the one-shot engine's scripts with their code caches. */
export function oneShotBootstrap(init: BootstrapInit): string {
  return bootstrap("once.js", "./once.cjs", init);
}

/** The program that runs the script of a sandbox process with its code cache. */
export function guestBootstrap(init: BootstrapInit): string {
  return bootstrap(guestScript, `./${guestProgramName}`, init);
}

/**
 * V8 ignores a cache of another version or of other flags: a program that sets flags sets the defaults again at its exit, before the cache is written. A cache
 * is code that V8 does not compare with the script, so the program uses only a cache of the script's own user that no other user may write.
 */
function bootstrap(first: string, entry: string, { directory, record }: BootstrapInit): string {
  const recording = "scripts.set(cache, script);";
  const writing = `
process.on("exit", () => {
  for (const [cache, script] of scripts) require("node:fs").writeFileSync(cache, script.createCachedData(), { mode: 0o644 });
});`;
  return `"use strict";
const { closeSync, fstatSync, openSync, readFileSync, statSync } = require("node:fs");
const { Script, constants } = require("node:vm");
const directory = ${directory};
const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;${record ? "\nconst scripts = new Map();" : ""}
function cached(path, uidOfScript) {
  let file;
  try {
    file = openSync(path);
    const { uid, mode } = fstatSync(file);
    return uid === uidOfScript && (mode & 0o022) === 0 ? readFileSync(file) : undefined;
  } catch {
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
function run(name) {
  const filename = directory + "/" + name;
  const source = readFileSync(filename, "latin1");
  const cache = directory + "/${cacheDirectory}/" + ${cacheNameExpression};
  const cachedData = cached(cache, statSync(filename).uid);
  const script = new Script(source, { filename, cachedData, importModuleDynamically });${record ? `\n  ${recording}` : ""}
  return script.runInThisContext();
}
const chunks = run("${first}");
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
load("${entry}");${record ? writing : ""}
`;
}
