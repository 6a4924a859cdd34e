// Outcomes of builds that the kit does not keep for authors, because components of 13 MB and more would fill their cache. Tests keep one
// outcome of each name. The key covers the delegate's files, the kit and its tools, so that an outcome is used for equal inputs only.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { digestOf, digestTree, fromCache } from "../../../delegates/sdk/build/content-cache.ts";

/** The inputs of a delegate's builds, and the directory of their outcomes. */
export interface KeptBuilds {
  readonly directory: string;
  /** The delegate's directory. */
  readonly dir: string;
  /** The names of files in `dir` on which the build depends. */
  readonly files: RegExp;
  /** Versions and settings of tools that are no part of the kit. */
  readonly tools: readonly string[];
}

/** The bytes of `make`, or those of an earlier run with equal inputs. */
export async function keptBytes(builds: KeptBuilds, name: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const { directory, dir, files, tools } = builds;
  const place = join(directory, name);
  const found = await fromCache(place, await digestOf([await digestTree(dir, files), ...tools]), async () => {
    // Outcomes of other inputs, which would add up.
    rmSync(place, { recursive: true, force: true });
    return { bytes: await make() };
  });
  return "cachedBytes" in found ? found.cachedBytes : found.made.bytes;
}

/**
 * The message with which `build` rejects, or that of an earlier run. Only a message that `expected` matches is kept: others may tell of the machine.
 * A kept message names the directory of its own build.
 */
export async function keptMessage(
  builds: KeptBuilds,
  name: string,
  expected: RegExp,
  build: () => Promise<unknown>,
): Promise<string> {
  const bytes = await keptBytes(builds, name, async () => {
    const error: unknown = await build().then(
      () => new Error("the build succeeds"),
      (reason: unknown) => reason,
    );
    if (!(error instanceof Error) || !expected.test(error.message)) throw error;
    return new TextEncoder().encode(error.message);
  });
  return Buffer.from(bytes).toString();
}
