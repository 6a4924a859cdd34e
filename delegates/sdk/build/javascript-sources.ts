// The files that QuickJS loads for a delegate in JavaScript or TypeScript: its `src/`, and the npm packages that it depends on.

import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import * as nodeModule from "node:module";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { digestTree } from "./content-cache.ts";
import { wrongValue } from "../testing/wrong-value.ts";

/** The files of `src/` that are modules. */
const moduleFile = /(?<!\.d)\.(?:m?js|ts)$/;

/** A digest of the sources and of the installed versions of their packages. */
export async function digestSources(dir: string): Promise<string> {
  const hash = createHash("sha256").update(await digestTree(join(dir, "src"), moduleFile));
  for (const [name, folder] of await packagesOf(dir)) {
    hash.update(`${name}\0${await digestTree(folder, /\.(?:m?js|cjs|json)$/)}\0`);
  }
  return hash.digest("hex");
}

/** A module of the delegate as QuickJS reads it. */
export interface SourceModule {
  /** The path below the delegate's directory, such as `src/index.ts`. */
  readonly path: string;
  readonly text: string;
}

/**
 * Writes the modules of `dir/src` to `root/src` under their names, and the packages to `root/node_modules`. Types of TypeScript become
 * blanks, so that each line and column of an error is that of the author's file. Throws an Error for the author.
 */
export async function stageSources(dir: string, root: string): Promise<readonly SourceModule[]> {
  const entries = await readdir(join(dir, "src"), { recursive: true, withFileTypes: true });
  const modules: SourceModule[] = [];
  for (const entry of entries.filter((each) => each.isFile() && moduleFile.test(each.name))) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(dir, file);
    const text = await readFile(file, "utf8");
    modules.push({ path, text: path.endsWith(".ts") ? withoutTypes(path, text) : text });
  }
  for (const { path, text } of modules) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  for (const [name, folder] of await packagesOf(dir)) {
    const filter = (source: string): boolean => !relative(folder, source).split("/").includes("node_modules");
    await cp(folder, join(root, "node_modules", name), { recursive: true, filter });
  }
  return modules;
}

function withoutTypes(path: string, text: string): string {
  // A named import would keep an older Node from loading this module at all.
  const strip = nodeModule.stripTypeScriptTypes;
  if (typeof strip !== "function") throw new Error(`${path}: TypeScript needs Node 22.19 or newer: install Node 24`);
  // Node warns once that the function is experimental, which is nothing that the author can change.
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return strip(text, { mode: "strip" });
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    process.emitWarning = emitWarning;
  }
}

const Manifest = z.object({ dependencies: z.record(z.string(), z.string()).default({}) });

/** The packages in `dependencies` of package.json, and theirs, by name, with their folders. Throws an Error for a missing package. */
async function packagesOf(dir: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const pending = await dependenciesIn(dir);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    const folder = join(dir, "node_modules", name);
    found.set(name, folder);
    pending.push(...(await dependenciesIn(folder, name)));
  }
  return found;
}

async function dependenciesIn(folder: string, packageName?: string): Promise<string[]> {
  const file = join(folder, "package.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined && packageName === undefined) return [];
  if (text === undefined) throw new Error(`the package ${packageName} is not in node_modules: npm install installs it`);
  const value: unknown = JSON.parse(text);
  const manifest = Manifest.safeParse(value);
  if (!manifest.success) throw new Error(`${file}: ${manifest.error.issues.map((issue) => wrongValue(issue, value)).join("; ")}`);
  return Object.keys(manifest.data.dependencies);
}
