// AssemblyScript to a core module, with the files of the guest kit under `plexus/…` and a generated entry.

import { readFile } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import * as asc from "assemblyscript/asc";
import { explained } from "./compile-errors.ts";
import { kitFile } from "./kit-files.ts";

const library = kitFile("assembly/");

export interface CompileInit {
  /** The delegate's directory; paths in messages are relative to it. */
  readonly dir: string;
  /** Path of the entry, relative to `dir`; it does not have to exist on disk. */
  readonly entry: string;
  /** Files that replace or add to those on disk, by path relative to `dir`, or `plexus/…` for the guest kit's. */
  readonly virtual: ReadonlyMap<string, string>;
  readonly options: readonly string[];
}

/** Reads a file of the guest kit by its path under `plexus/`, without `.ts`. */
export async function libraryFile(path: string): Promise<string | null> {
  const file = resolve(library, path);
  return file.startsWith(library) ? readText(file) : null;
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return null;
  }
}

/** Compiles. Throws an Error with the compiler's messages. */
export async function compile({ dir, entry, virtual, options }: CompileInit): Promise<Uint8Array> {
  const outFile = "delegate.wasm";
  let module: Uint8Array | undefined;
  const stderr = asc.createMemoryStream();
  const { error } = await asc.main([entry, "--outFile", outFile, "--noColors", ...options], {
    stdout: asc.createMemoryStream(),
    stderr,
    readFile: async (name, base) => {
      const path = name.split(sep).join("/");
      const kit = /(?:^|\/)node_modules\/(plexus\/.+)$/.exec(path)?.[1];
      if (kit !== undefined) return virtual.get(kit) ?? libraryFile(kit.slice("plexus/".length));
      if (path.includes("node_modules/plexus")) return null;
      const virtualText = virtual.get(path);
      if (virtualText !== undefined) return virtualText;
      // Only files that the cache's key covers.
      return base === "." && path.startsWith("assembly/") ? readText(join(dir, path)) : null;
    },
    writeFile: (name, contents) => {
      if (name === outFile && typeof contents !== "string") module = contents;
    },
    listFiles: () => [],
  });
  if (error !== null || module === undefined) {
    const messages = explained(stderr.toString(), virtual.get("plexus/abi/plugin.ts"));
    throw new Error(`${dir} does not compile:\n${messages === "" ? (error?.message ?? "") : messages}`);
  }
  return module;
}
