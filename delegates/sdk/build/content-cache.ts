// Built before from the same content: not built again. The key is a digest of all that a build depends on.

import { createHash, type Hash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const kit = fileURLToPath(new URL("../", import.meta.url));
const asconfig = fileURLToPath(new URL("../../../asconfig.json", import.meta.url));

/** Where builds are kept unless told otherwise. */
export const defaultCacheDir = fileURLToPath(new URL("../../../dist/cache/delegates/", import.meta.url));

/** A digest over the guest kit, its tools and the parts given. */
export async function digestOf(parts: Iterable<string | Uint8Array>): Promise<string> {
  kitDigest ??= digestKit();
  const hash = createHash("sha256").update(await kitDigest);
  for (const part of parts) hash.update(`${part.length}\0`).update(part);
  return hash.digest("hex");
}

/** A digest of a directory's `.ts` files, by name and content. */
export async function digestTree(root: string): Promise<string> {
  const hash = createHash("sha256");
  await hashTree(hash, root, /\.ts$/);
  return hash.digest("hex");
}

/** What was kept under a key, or what `make` answers, which is kept unless `keep` says no. */
export async function kept<T extends { readonly bytes: Uint8Array }>(
  directory: string,
  key: string,
  make: () => Promise<T>,
  keep: (made: T) => boolean = () => true,
): Promise<{ readonly before: Uint8Array } | { readonly made: T }> {
  const file = join(directory, `${key}.wasm`);
  const before = await readFile(file).catch(() => null);
  if (before !== null) return { before };
  const made = await make();
  // A directory that can't be written costs time, nothing else.
  if (keep(made)) await place(file, made.bytes).catch(() => undefined);
  return { made };
}

/** Writes a file whole or not at all: builds may run side by side. */
export async function place(file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.${performance.now()}`);
  await writeFile(temporary, bytes);
  await rename(temporary, file);
}

let kitDigest: Promise<string> | undefined;

async function digestKit(): Promise<string> {
  const hash = createHash("sha256").update(await readFile(asconfig));
  for (const part of ["assembly", "build", "generator", "wit"]) await hashTree(hash, join(kit, part), /(?<!\.test)\.ts$/);
  for (const tool of ["assemblyscript/package.json", "@bytecodealliance/jco/package.json"]) hash.update(await toolVersion(tool));
  return hash.digest("hex");
}

/** Not every tool exports its package.json, so it is looked for on disk, upwards from here. */
async function toolVersion(path: string): Promise<string> {
  for (let at = kit; at !== dirname(at); at = dirname(at)) {
    const text = await readFile(join(at, "node_modules", path), "utf8").catch(() => null);
    if (text !== null) return text;
  }
  return path;
}

async function hashTree(hash: Hash, root: string, wanted: RegExp): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((e) => e.isFile() && wanted.test(e.name)).map((e) => join(e.parentPath, e.name));
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
}
