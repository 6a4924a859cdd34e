// Guest code without a component: an AssemblyScript module, compiled for tests and called through its loader.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { instantiateSync, type ASUtil } from "@assemblyscript/loader";
import { bindingsOf, currentAbi, libraryBindings, readAbi } from "../build/abi.ts";
import { compileApart } from "../build/compile-apart.ts";
import { defaultCacheDir, digestOf, fromCache } from "../build/content-cache.ts";

/** A guest with functions from text to text. */
export interface Guest {
  /** Calls an exported function that takes strings and answers a string. */
  text(name: string, ...args: string[]): string;
  /** The raw exports, for numbers. */
  readonly exports: ASUtil & Record<string, unknown>;
}

/** Compiles `assembly/<file>` of a directory, unoptimised, and instantiates it. */
export async function loadGuest(file: string, dir = fileURLToPath(new URL(".", import.meta.url))): Promise<Guest> {
  const abi = readAbi(currentAbi);
  const virtual = abi === null ? new Map<string, string>() : libraryBindings(bindingsOf(abi));
  virtual.set(`assembly/${file}`, await readFile(`${dir}/assembly/${file}`, "utf8"));
  const options = ["--exportRuntime", "--runtime", "incremental", "--use", "abort=~lib/plexus/abort-silent/abort", "-O1"];
  const key = await digestOf(["guest", ...options, ...[...virtual].flat()]);
  const make = async (): Promise<{ bytes: Uint8Array }> => ({
    bytes: await compileApart({ dir, entry: `assembly/${file}`, virtual, options }),
  });
  const built = await fromCache(defaultCacheDir, key, make);
  const module = "cachedBytes" in built ? built.cachedBytes : built.made.bytes;
  const { exports } = instantiateSync<Record<string, unknown>>(module, {});
  return {
    exports,
    text: (name, ...args) => {
      const call = exports[name];
      if (typeof call !== "function") throw new Error(`${file} has no ${name}`);
      const pointer: unknown = call(...args.map((arg) => exports.__pin(exports.__newString(arg))));
      return typeof pointer === "number" ? (exports.__getString(pointer) ?? "") : "";
    },
  };
}
