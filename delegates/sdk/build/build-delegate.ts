// Builds one delegate: from its directory to its component.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { interfaceId } from "../generator/calls-file.ts";
import { bindingsOf, capabilitiesOf, readAbi, releasedAbis, world } from "./abi.ts";
import { compileApart } from "./compile-apart.ts";
import { cacheDirOf, digestOf, digestTree, fromCache, writeByRename } from "./content-cache.ts";
import { declarationSection, parseDeclaration, type Declaration } from "./declaration.ts";
import { asconfigFile } from "./kit-files.ts";

export interface BuildDelegateInit {
  /** The directory of `delegate.json` and `assembly/index.ts`. */
  readonly dir: string;
  /** Path of the component; its directory is created. */
  readonly outFile: string;
  /** Directory of earlier builds, which are reused for equal content. Null: always build. */
  readonly cacheDir?: string | null;
  /** Skips the optimiser: several times faster to build, but larger and slower code. */
  readonly quick?: boolean;
  /** The functions keep their names, which a profile shows: a larger component. */
  readonly names?: boolean;
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

/** Builds a delegate. The same sources give the same bytes. Throws an Error for the author. */
export async function buildDelegate({
  dir,
  outFile,
  cacheDir = cacheDirOf(dir),
  quick = false,
  names = false,
}: BuildDelegateInit): Promise<BuiltDelegate> {
  const { text, declaration } = await readDeclaration(dir);
  const sources = await digestTree(join(dir, "assembly"));
  const make = async (): Promise<{ bytes: Uint8Array; warnings: string[] }> =>
    build(dir, declaration, await compilerOptions(quick), names);
  if (cacheDir === null) return finished(declaration, outFile, await make(), false);
  const key = await digestOf([text, `${quick} ${names}`, readAbi(declaration.abi)?.wit ?? "", sources]);
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
  { bytes, warnings }: { readonly bytes: Uint8Array; readonly warnings: readonly string[] },
  cached: boolean,
): Promise<BuiltDelegate> {
  await writeByRename(outFile, bytes);
  return { declaration, bytes, cached, warnings };
}

async function build(
  dir: string,
  declaration: Declaration,
  options: readonly string[],
  names: boolean,
): Promise<{ bytes: Uint8Array; warnings: string[] }> {
  const abi = readAbi(declaration.abi);
  if (abi === null) throw new Error(`cni:delegate@${declaration.abi} does not exist`);
  const bindings = bindingsOf(abi);
  const abort = "log" in declaration.capabilities ? "abort-log" : "abort-silent";
  const entry = "delegate-entry.ts";
  const virtual = new Map([...bindings.files].map(([name, text]) => [`plexus/abi/${name}`, text]));
  virtual.set(entry, `${bindings.entry.text}import "plexus/${abort}";\n`);
  const module = await compileApart({
    dir,
    entry,
    virtual,
    options: [...options, ...(names ? ["--debug"] : []), "--use", `abort=~lib/plexus/${abort}/abort`],
  });
  // Loaded here, because loading the tools takes longer than reading the cache.
  const { componentize } = await import("./componentize.ts");
  const ids = new Map((capabilitiesOf(abi.version) ?? []).map((name) => [interfaceId(abi.model, name), name]));
  const { bytes, imports } = await componentize({
    module,
    exportNames: bindings.entry.exportNames,
    witSource: abi.wit,
    world,
    keepsNames: names,
    importable: [...ids.keys()],
    sections: new Map([[declarationSection, new TextEncoder().encode(JSON.stringify(declaration))]]),
  });
  const used = imports.map((id) => ids.get(id) ?? id);
  const undeclared = used.filter((name) => !(name in declaration.capabilities));
  if (undeclared.length > 0) {
    throw new Error(`${declaration.name} calls ${undeclared.join(", ")}: declare it in delegate.json, with a reason`);
  }
  const uncalled = Object.keys(declaration.capabilities).filter((name) => !used.includes(name));
  return { bytes, warnings: uncalled.map((name) => `${declaration.name} declares ${name} and never calls it`) };
}

/** The compiler's options in asconfig.json, as arguments. */
async function compilerOptions(quick: boolean): Promise<string[]> {
  const { options } = z
    .object({ options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) })
    .parse(JSON.parse(await readFile(asconfigFile, "utf8")));
  const used = quick ? { ...options, optimizeLevel: 0, shrinkLevel: 0 } : options;
  return Object.entries(used).flatMap(([name, value]) => {
    if (typeof value === "boolean") return value ? [`--${name}`] : [];
    return [`--${name}`, String(value)];
  });
}
