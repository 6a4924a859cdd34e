// Compiles the launcher of sandbox processes, `bin/plexus-sandbox`, like the shim: static, hardened, and without a libc where possible. As a
// script: node host/sandbox/launcher/build.ts [OUT-DIR].

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildShimInit, buildProgram, type BuiltProgram } from "../../shim/build.ts";

const directory = fileURLToPath(new URL(".", import.meta.url));

function filesEnding(ending: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(directory, name));
}

/** Makes `outDir/bin/plexus-sandbox`. Throws with the compiler's output where no linkage works. */
export function buildLauncher(init: BuildShimInit): Promise<BuiltProgram> {
  const outDir = join(init.outDir, "bin");
  return buildProgram({
    ...init,
    outDir,
    name: "plexus-sandbox",
    sources: filesEnding(".c"),
    headers: filesEnding(".h"),
    bare: true,
  });
}

if (import.meta.main) {
  const built = await buildLauncher({ outDir: process.argv[2] ?? "dist" });
  process.stderr.write(`plexus: ${built.path}: ${built.linkage}, ${built.size} bytes${built.compiled ? "" : " (unchanged)"}\n`);
}
