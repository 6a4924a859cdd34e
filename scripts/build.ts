// `npm run build`: makes the shim, the launcher of sandbox processes, the engine, the delegates and the engine's code cache in dist/.

import { existsSync } from "node:fs";

import { buildEngine } from "./build-engine.ts";
import { buildLauncher } from "../host/sandbox/launcher/build.ts";
import { buildShim } from "../host/shim/build.ts";
import { buildDelegates } from "./build-delegates.ts";
import { warmEngine } from "./warm-engine.ts";

const started = performance.now();
if (!existsSync("dist/plexus.build.json"))
  process.stderr.write("plexus: building shim, engine and delegates (once, a minute or two)\n");
try {
  await Promise.all([
    buildShim({ outDir: "dist" }),
    buildLauncher({ outDir: "dist" }),
    buildEngine({ outDir: "dist" }),
    buildDelegates(),
  ]);
  await warmEngine({ outDir: "dist" });
  process.stderr.write(`plexus: built in ${Math.round(performance.now() - started)} ms\n`);
} catch (error) {
  process.stderr.write(`plexus: the build failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
