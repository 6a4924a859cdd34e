// Delegates for tests, built from AssemblyScript as an author builds a delegate.

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { testDist } from "../compiled.ts";

/** Builds test/lab/delegates/NAME, unless it is built, and returns the component's path. */
export async function testDelegate(name: string): Promise<string> {
  const outFile = join(testDist, "delegates", `${name}.wasm`);
  await buildDelegate({ dir: fileURLToPath(new URL(name, import.meta.url)), outFile, quick: true });
  return outFile;
}

/** Installs a test delegate into a directory of CNI_PATH, under each of these types. */
export async function installTestDelegate(name: string, directory: string, types: readonly string[] = [name]): Promise<void> {
  const path = await testDelegate(name);
  for (const type of types) copyFileSync(path, join(directory, `${type}.wasm`));
}
