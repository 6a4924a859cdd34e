// Builds one delegate: from its directory to its component.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { capabilitiesOf, readAbi, releasedAbis } from "./abi.ts";
import type { CompiledComponent, LanguageInput } from "./compiled-component.ts";
import { cacheDirOf, digestOf, digestTree, fromCache, writeByRename } from "./content-cache.ts";
import { customSection } from "./core-module.ts";
import { declarationSection, parseDeclaration, type Declaration } from "./declaration.ts";
import { type Interpreter, type Language, languageIn } from "./language.ts";

export interface BuildDelegateInit {
  /** The directory of `delegate.json` and the sources. */
  readonly dir: string;
  /** Path of the component; its directory is created. */
  readonly outFile: string;
  /** Directory of earlier builds, which are reused for equal content. Null: always build. */
  readonly cacheDir?: string | null;
  /** Skips AssemblyScript's optimiser: several times faster to build, but larger and slower code. */
  readonly quick?: boolean;
  /** The functions keep their names, which a profile shows: a larger component. */
  readonly names?: boolean;
  /** The interpreter of a delegate in JavaScript or TypeScript; absent: QuickJS. */
  readonly interpreter?: Interpreter;
}

/** The outcome of a build. */
export interface BuiltDelegate {
  readonly declaration: Declaration;
  readonly bytes: Uint8Array;
  /** Whether the component came from the cache. */
  readonly cached: boolean;
  /** Warnings for the author, which do not stop the build. */
  readonly warnings: readonly string[];
}

interface Made {
  readonly bytes: Uint8Array;
  readonly warnings: readonly string[];
}

type Compile = (input: LanguageInput) => Promise<CompiledComponent>;

/** The sources on which a component depends; undefined: the kit keeps no earlier builds. */
type SourceDigest = ((dir: string) => Promise<string>) | undefined;

/** Each language's compiler and sources. A compiler is loaded when it is used. */
const compilers: Readonly<Record<Language["id"], { readonly load: () => Promise<Compile>; readonly sources: SourceDigest }>> = {
  as: {
    load: async () => (await import("./assemblyscript.ts")).compileAssemblyScript,
    sources: (dir) => digestTree(join(dir, "assembly")),
  },
  js: {
    load: async () => (await import("./javascript.ts")).compileJavaScript,
    sources: async (dir) => (await import("./javascript-sources.ts")).digestSources(dir),
  },
  ts: {
    load: async () => (await import("./javascript.ts")).compileJavaScript,
    sources: async (dir) => (await import("./javascript-sources.ts")).digestSources(dir),
  },
  rust: { load: async () => (await import("./rust.ts")).compileRust, sources: undefined },
  // Go's own cache has the packages that did not change.
  go: { load: async () => (await import("./go.ts")).compileGo, sources: undefined },
  // 18 MB for each change of a source would fill the cache.
  python: { load: async () => (await import("./python.ts")).compilePython, sources: undefined },
};

/**
 * Builds a delegate in any language of the kit. The same sources in AssemblyScript give the same bytes. Throws an Error for the author.
 */
export async function buildDelegate({
  dir,
  outFile,
  cacheDir = cacheDirOf(dir),
  quick = false,
  names = false,
  interpreter = "quickjs",
}: BuildDelegateInit): Promise<BuiltDelegate> {
  const { text, declaration } = await readDeclaration(dir);
  const abi = readAbi(declaration.abi);
  if (abi === null) throw new Error(`cni:delegate@${declaration.abi} does not exist`);
  const language = languageIn(dir);
  if (interpreter !== "quickjs" && language.id !== "js" && language.id !== "ts")
    throw new Error(`${dir} is a delegate in ${language.title}: the interpreter ${interpreter} is for JavaScript and TypeScript`);
  const { load, sources } = compilers[language.id];
  // 13 MB for each change of a source would fill the cache.
  const digest = interpreter === "starlingmonkey" ? undefined : await sources?.(dir);
  const make = async (): Promise<Made> => build({ dir, declaration, abi, quick, names, interpreter }, await load());
  if (cacheDir === null || digest === undefined) return finished(declaration, outFile, await make(), false);
  const key = await digestOf([text, language.id, `${quick} ${names}`, abi.wit, digest]);
  // A build with warnings is not cached, so that the warnings are repeated.
  const built = await fromCache(cacheDir, key, make, ({ warnings }) => warnings.length === 0);
  if ("cachedBytes" in built) return finished(declaration, outFile, { bytes: built.cachedBytes, warnings: [] }, true);
  const damaged =
    built.damagedFile === undefined ? [] : [`${built.damagedFile} was damaged, so ${declaration.name} was built again`];
  return finished(declaration, outFile, { ...built.made, warnings: [...built.made.warnings, ...damaged] }, false);
}

/** Reads a delegate's `delegate.json`. Throws an Error for the author. */
export async function readDeclaration(dir: string): Promise<{ readonly text: string; readonly declaration: Declaration }> {
  const text = await readFile(join(dir, "delegate.json"), "utf8").catch((cause: unknown) => {
    throw new Error(`${dir} has no delegate.json: plexus-delegate new NAME makes a delegate`, { cause });
  });
  return { text, declaration: parseDeclaration(text, capabilitiesOf, releasedAbis()) };
}

async function finished(
  declaration: Declaration,
  outFile: string,
  { bytes, warnings }: Made,
  cached: boolean,
): Promise<BuiltDelegate> {
  await writeByRename(outFile, bytes);
  return { declaration, bytes, cached, warnings };
}

async function build(input: LanguageInput, compile: Compile): Promise<Made> {
  const { declaration } = input;
  const { bytes, called } = await compile(input);
  const undeclared = called.filter((name) => !(name in declaration.capabilities));
  if (undeclared.length > 0) {
    throw new Error(`${declaration.name} calls ${undeclared.join(", ")}: declare it in delegate.json, with a reason`);
  }
  const uncalled = Object.keys(declaration.capabilities).filter((name) => !called.includes(name));
  const section = customSection(declarationSection, new TextEncoder().encode(JSON.stringify(declaration)));
  return {
    bytes: Buffer.concat([bytes, Uint8Array.from(section)]),
    warnings: uncalled.map((name) => `${declaration.name} declares ${name} and never calls it`),
  };
}
