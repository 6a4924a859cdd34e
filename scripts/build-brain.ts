// Bundles the one-shot brain: one file that loads nothing which a call doesn't need, and a compile cache for it.

import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

export interface BuildBrainInit {
  /** Where `brain.mjs` and its chunks go. */
  readonly outDir: string;
}

/** Makes `outDir/brain.mjs` (what the hands start), `outDir/brain/` (its code) and `outDir/bin/node` (the pinned runtime). */
export async function buildBrain({ outDir }: BuildBrainInit): Promise<void> {
  const bundle = await rolldown({
    input: {
      "one-shot": "host/cli/one-shot.ts",
      ...(existsSync("host/sandbox/process/guest-main.ts") ? { "guest-process": "host/sandbox/process/guest-main.ts" } : {}),
    },
    platform: "node",
    external: [/^node:/],
    treeshake: true,
  });
  rmSync(join(outDir, "brain"), { recursive: true, force: true });
  await bundle.write({
    dir: join(outDir, "brain"),
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await bundle.close();
  writeFileSync(join(outDir, "brain.mjs"), bootstrap);
  linkRuntime(join(outDir, "bin"));
}

// The compile cache lies beside the code, so that it is as trusted as the code; where the directory is read-only
// Node goes on without.
const bootstrap = `import { enableCompileCache } from "node:module";
enableCompileCache(new URL("./brain/cache", import.meta.url).pathname);
await import("./brain/one-shot.mjs");
`;

function linkRuntime(directory: string): void {
  const target = resolve("node_modules/node/bin/node");
  const link = join(directory, "node");
  mkdirSync(directory, { recursive: true });
  if (existsSync(link)) return;
  rmSync(link, { force: true });
  try {
    symlinkSync(target, link);
  } catch {
    cpSync(target, link);
  }
}
