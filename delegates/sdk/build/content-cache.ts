// Reuses earlier builds of equal content. The key is a digest of all inputs of a build.

import { createHash, type Hash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const kit = fileURLToPath(new URL("../", import.meta.url));
const asconfig = fileURLToPath(new URL("../../../asconfig.json", import.meta.url));

/** Default directory of the cache. */
export const defaultCacheDir = fileURLToPath(new URL("../../../dist/cache/delegates/", import.meta.url));

/** A digest of the guest kit, its tools and `parts`. */
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

/** The cached bytes of a key, or the answer of `make`, which is cached unless `isCacheable` answers false. */
export async function fromCache<T extends { readonly bytes: Uint8Array }>(
  directory: string,
  key: string,
  make: () => Promise<T>,
  isCacheable: (made: T) => boolean = () => true,
): Promise<{ readonly cachedBytes: Uint8Array } | { readonly made: T }> {
  const file = join(directory, `${key}.wasm`);
  const cachedBytes = await readFile(file).catch(() => null);
  if (cachedBytes !== null) return { cachedBytes };
  const made = await make();
  // A directory that cannot be written costs only time.
  if (isCacheable(made)) await writeByRename(file, made.bytes).catch(() => undefined);
  return { made };
}

/** Writes a file by rename: builds may run in parallel. */
export async function writeByRename(file: string, bytes: Uint8Array): Promise<void> {
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

/** Some tools do not export their package.json, so it is looked for on disk, upwards from here. */
async function toolVersion(path: string): Promise<string> {
  for (let at = kit; at !== dirname(at); at = dirname(at)) {
    const text = await readFile(join(at, "node_modules", path), "utf8").catch(() => null);
    if (text !== null) return text;
  }
  return path;
}

async function hashTree(hash: Hash, root: string, pattern: RegExp): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((e) => e.isFile() && pattern.test(e.name)).map((e) => join(e.parentPath, e.name));
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
}
