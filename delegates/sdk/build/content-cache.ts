// Reuses earlier builds of equal content. The key is a digest of all inputs of a build.

import { createHash, type Hash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { asconfigFile, isPackaged, kitFile } from "./kit-files.ts";

/**
 * The cache of builds in a directory: PLEXUS_BUILD_CACHE, which several clones may share, else the repository's `dist/`, or in an author's
 * repository the place that tools share for caches.
 */
export function cacheDirOf(dir: string): string {
  const shared = process.env["PLEXUS_BUILD_CACHE"] ?? "";
  if (shared !== "") return shared;
  return isPackaged ? join(dir, "node_modules/.cache/plexus-delegate") : kitFile("../../dist/cache/delegates/");
}

/** The cache of builds that belong to no delegate's directory. */
export const defaultCacheDir = cacheDirOf(process.cwd());

/** Length of a SHA-256 digest in bytes. */
const digestBytes = 32;

/** A digest of the guest kit, its tools and `parts`. */
export async function digestOf(parts: Iterable<string | Uint8Array>): Promise<string> {
  kitDigest ??= digestKit();
  const hash = createHash("sha256").update(await kitDigest);
  for (const part of parts) hash.update(`${part.length}\0`).update(part);
  return hash.digest("hex");
}

/** A digest of a directory's files of this name, by name and content. Rejects for a symbolic link: its target is outside of the digest. */
export async function digestTree(root: string, pattern: RegExp = /\.ts$/): Promise<string> {
  const hash = createHash("sha256");
  await hashTree(hash, root, pattern);
  return hash.digest("hex");
}

/** Bytes of the cache, or the answer of `make`. `damagedFile`: the cache had this file, whose content was not what was written. */
export type FromCache<T> = { readonly cachedBytes: Uint8Array } | { readonly made: T; readonly damagedFile: string | undefined };

/**
 * The cached bytes of a key, or the answer of `make`, which is cached unless `isCacheable` answers false. A cached file begins with
 * the digest of its bytes; a file with another digest is built again and replaced.
 */
export async function fromCache<T extends { readonly bytes: Uint8Array }>(
  directory: string,
  key: string,
  make: () => Promise<T>,
  isCacheable: (made: T) => boolean = () => true,
): Promise<FromCache<T>> {
  const file = join(directory, `${key}.built`);
  const cached = await readFile(file).catch(() => null);
  if (cached !== null) {
    const bytes = cached.subarray(digestBytes);
    if (sha256(bytes).equals(cached.subarray(0, digestBytes))) return { cachedBytes: bytes };
  }
  const made = await make();
  // A directory that cannot be written costs only time.
  if (isCacheable(made)) await writeByRename(file, Buffer.concat([sha256(made.bytes), made.bytes])).catch(() => undefined);
  return { made, damagedFile: cached === null ? undefined : file };
}

/** Writes a file by rename: builds may run in parallel. */
export async function writeByRename(file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.${performance.now()}`);
  await writeFile(temporary, bytes);
  await rename(temporary, file);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

let kitDigest: Promise<string> | undefined;

async function digestKit(): Promise<string> {
  const hash = createHash("sha256").update(await readFile(asconfigFile));
  const code = isPackaged ? ["dist"] : ["build", "../../wit/binary", "../../wit/codegen"];
  for (const part of ["assembly", ...code]) await hashTree(hash, kitFile(part), /(?<!\.test)\.[tj]s$/);
  // In the package, dist/ has the part of jco that the kit uses.
  for (const tool of ["assemblyscript/package.json", "@bytecodealliance/jco/package.json", "componentize-qjs/package.json"])
    hash.update(await toolVersion(tool));
  return hash.digest("hex");
}

/** Some tools do not export their package.json, so it is looked for on disk, upwards from here. */
async function toolVersion(path: string): Promise<string> {
  for (let at = kitFile("."); at !== dirname(at); at = dirname(at)) {
    const text = await readFile(join(at, "node_modules", path), "utf8").catch(() => null);
    if (text !== null) return text;
  }
  return path;
}

async function hashTree(hash: Hash, root: string, pattern: RegExp): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const link = entries.find((entry) => entry.isSymbolicLink());
  if (link !== undefined) {
    throw new Error(
      `${join(link.parentPath, link.name)} is a symbolic link, which a build does not follow: put the file itself there`,
    );
  }
  const files = entries.filter((e) => e.isFile() && pattern.test(e.name)).map((e) => join(e.parentPath, e.name));
  for (const file of files.toSorted()) {
    const content = await readFile(file);
    hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
}
