// One delegate, from its directory to its component.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { interfaceId } from "../generator/calls-file.ts";
import { bindingsOf, capabilitiesOf, readAbi, world } from "./abi.ts";
import { compileApart } from "./compile-apart.ts";
import { declarationSection, parseDeclaration, type Declaration } from "./declaration.ts";

export interface BuildDelegateInit {
  /** Holds `delegate.json` and `assembly/index.ts`. */
  readonly dir: string;
  /** Where the component goes; its directory is made. */
  readonly outFile: string;
  /** Built before from the same content: taken from here. Null: always built. */
  readonly cacheDir?: string | null;
}

export interface BuiltDelegate {
  readonly declaration: Declaration;
  readonly bytes: Uint8Array;
  /** Whether it came from the cache. */
  readonly cached: boolean;
  /** What an author should look at; nothing of it stops the build. */
  readonly warnings: readonly string[];
}

const kit = fileURLToPath(new URL("../", import.meta.url));
const defaultCache = fileURLToPath(new URL("../../../dist/cache/delegates/", import.meta.url));

const asconfig = fileURLToPath(new URL("../../../asconfig.json", import.meta.url));

/** Builds a delegate. The same sources give the same bytes. Throws an Error for the author. */
export async function buildDelegate({ dir, outFile, cacheDir = defaultCache }: BuildDelegateInit): Promise<BuiltDelegate> {
  const declarationText = await readFile(join(dir, "delegate.json"), "utf8").catch((cause: unknown) => {
    throw new Error(`${dir} has no delegate.json`, { cause });
  });
  const declaration = parseDeclaration(declarationText, capabilitiesOf);
  const key = cacheDir === null ? null : await contentKey(dir, declaration.abi);
  const cacheFile = cacheDir === null || key === null ? null : join(cacheDir, `${key}.wasm`);
  const before = cacheFile === null ? null : await readFile(cacheFile).catch(() => null);
  if (before !== null) {
    await place(outFile, before);
    return { declaration, bytes: before, cached: true, warnings: [] };
  }
  const { bytes, warnings } = await build(dir, declaration);
  // A build with warnings is not kept, so that they are said again.
  if (cacheFile !== null && warnings.length === 0) await place(cacheFile, bytes).catch(() => undefined);
  await place(outFile, bytes);
  return { declaration, bytes, cached: false, warnings };
}

async function build(dir: string, declaration: Declaration): Promise<{ bytes: Uint8Array; warnings: string[] }> {
  const abi = readAbi(declaration.abi);
  if (abi === null) throw new Error(`there is no cni:delegate@${declaration.abi}`);
  const bindings = bindingsOf(abi);
  const abort = "log" in declaration.capabilities ? "abort-log" : "abort-silent";
  const entry = "delegate-entry.ts";
  const virtual = new Map([...bindings.files].map(([name, text]) => [`plexus/abi/${name}`, text]));
  virtual.set(entry, `${bindings.entry.text}import "plexus/${abort}";\n`);
  const module = await compileApart({
    dir,
    entry,
    virtual,
    options: [...(await compilerOptions()), "--use", `abort=~lib/plexus/${abort}/abort`],
  });
  // Loading the tools costs more than looking a delegate up in the cache.
  const { componentize } = await import("./componentize.ts");
  const ids = new Map((capabilitiesOf(abi.version) ?? []).map((name) => [interfaceId(abi.model, name), name]));
  const { bytes, imports } = await componentize({
    module,
    exportNames: bindings.entry.exportNames,
    witSource: abi.wit,
    world,
    importable: [...ids.keys()],
    sections: new Map([[declarationSection, new TextEncoder().encode(JSON.stringify(declaration))]]),
  });
  const used = imports.map((id) => ids.get(id) ?? id);
  const undeclared = used.filter((name) => !(name in declaration.capabilities));
  if (undeclared.length > 0) {
    throw new Error(`${declaration.name} calls ${undeclared.join(", ")}: declare it in delegate.json, with a reason`);
  }
  const idle = Object.keys(declaration.capabilities).filter((name) => !used.includes(name));
  return { bytes, warnings: idle.map((name) => `${declaration.name} declares ${name} and never calls it`) };
}

/** The compiler's options in asconfig.json, as arguments. */
async function compilerOptions(): Promise<string[]> {
  const { options } = z
    .object({ options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) })
    .parse(JSON.parse(await readFile(asconfig, "utf8")));
  return Object.entries(options).flatMap(([name, value]) => {
    if (typeof value === "boolean") return value ? [`--${name}`] : [];
    return [`--${name}`, String(value)];
  });
}

/** Written whole or not at all: builds may run side by side. */
async function place(file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.${performance.now()}`);
  await writeFile(temporary, bytes);
  await rename(temporary, file);
}

let kitHash: Promise<string> | undefined;

/** A digest of all that a component depends on: the delegate, the guest kit, the ABI and the tools. */
async function contentKey(dir: string, abi: string): Promise<string> {
  kitHash ??= hashKit();
  const hash = createHash("sha256")
    .update(await kitHash)
    .update(readAbi(abi)?.wit ?? "");
  hash.update(await readFile(join(dir, "delegate.json")));
  await hashTree(hash, join(dir, "assembly"), /\.ts$/);
  return hash.digest("hex");
}

async function hashKit(): Promise<string> {
  const hash = createHash("sha256").update(await readFile(asconfig));
  for (const part of ["assembly", "build", "generator", "wit"]) await hashTree(hash, join(kit, part), /(?<!\.test)\.ts$/);
  for (const tool of ["assemblyscript/package.json", "@bytecodealliance/jco/package.json"]) {
    hash.update(await toolVersion(tool));
  }
  return hash.digest("hex");
}

async function toolVersion(path: string): Promise<string> {
  // Not every tool exports its package.json, so it is looked for on disk, upwards from here.
  for (let at = kit; at !== dirname(at); at = dirname(at)) {
    const text = await readFile(join(at, "node_modules", path), "utf8").catch(() => null);
    if (text !== null) return text;
  }
  return path;
}

async function hashTree(hash: ReturnType<typeof createHash>, root: string, wanted: RegExp): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((e) => e.isFile() && wanted.test(e.name)).map((e) => join(e.parentPath, e.name));
  for (const file of files.toSorted()) {
    hash.update(`${file.slice(root.length)}\0`);
    hash.update(await readFile(file));
    hash.update("\0");
  }
}
