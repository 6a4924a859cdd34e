// Builds every delegate of delegates/, or only those named, into dist/delegates/<name>.wasm. Unchanged delegates are not built again. A delegate of another
// name than the reference plugin that it replaces is also there under the plugin's name.
// An editor finds the generated AssemblyScript of the contract in delegates/sdk/assembly/abi/ afterwards; the compiler does not need it there.

import { existsSync } from "node:fs";
import { copyFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildDelegate, type BuiltDelegate } from "../delegates/sdk/build/build-delegate.ts";
import { replacedPlugins } from "../src/cni/reference-plugins.ts";
import { writeBindings } from "./write-bindings.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The directory of the components. It contains nothing else. */
const outDir = join(root, "dist/delegates");

/**
 * Builds the delegates with these names concurrently, or without names all of them. Throws an Error that names each delegate that cannot
 * be built, with the author's mistake.
 */
export async function buildDelegates(only: readonly string[] = []): Promise<BuiltDelegate[]> {
  writeBindings(join(root, "delegates/sdk/assembly/abi"));
  const entries = await readdir(join(root, "delegates"), { withFileTypes: true });
  const names = entries
    .filter((e) => e.isDirectory() && existsSync(join(root, "delegates", e.name, "delegate.json")))
    .map((e) => e.name);
  await removeStaleComponents(names);
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`delegates/ has no ${unknown.join(", ")}; it has ${names.toSorted().join(", ")}`);
  const all = await Promise.allSettled(
    (only.length === 0 ? names : only).map(async (name) => {
      const started = performance.now();
      const built = await buildDelegate({ dir: join(root, "delegates", name), outFile: join(outDir, `${name}.wasm`) }).catch(
        (error: unknown) => {
          throw new Error(`delegates/${name}: ${messageOf(error)}`, { cause: error });
        },
      );
      if (built.declaration.name !== name)
        throw new Error(
          `delegates/${name}: delegate.json has the name ${built.declaration.name}; it must be the directory's name`,
        );
      for (const warning of built.warnings) process.stderr.write(`plexus: warning: ${warning}\n`);
      if (!built.cached) {
        const kib = (built.bytes.length / 1024).toFixed(1);
        process.stderr.write(`plexus: ${name}.wasm ${kib} KiB in ${Math.round(performance.now() - started)} ms\n`);
      }
      const replaced = replacedPlugins[name];
      if (replaced !== undefined) await copyFile(join(outDir, `${name}.wasm`), join(outDir, `${replaced}.wasm`));
      return built;
    }),
  );
  const failures = all.flatMap((each) => (each.status === "rejected" ? [messageOf(each.reason)] : []));
  if (failures.length > 0) throw new Error(failures.join("\n"));
  return all.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

/** Removes the components of deleted delegates, which would otherwise be installed on nodes. */
async function removeStaleComponents(names: readonly string[]): Promise<void> {
  const files = existsSync(outDir) ? await readdir(outDir) : [];
  const current = new Set([...names, ...names.flatMap((name) => replacedPlugins[name] ?? [])]);
  const stale = files.filter((file) => file.endsWith(".wasm") && !current.has(file.slice(0, -".wasm".length)));
  for (const file of stale) await rm(join(outDir, file), { force: true });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

if (import.meta.main)
  await buildDelegates(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`plexus: ${messageOf(error)}\n`);
    process.exitCode = 1;
  });
