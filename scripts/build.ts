// `npm run build`: everything that is made before the first call, into dist/: the hands, the brain, the delegates, and the
// brain's code cache.

import { buildBrain } from "./build-brain.ts";
import { buildHands } from "../host/hands/build.ts";
import { buildDelegates } from "./build-delegates.ts";
import { warmBrain } from "./warm-brain.ts";

const started = performance.now();
try {
  await Promise.all([buildHands({ outDir: "dist" }), buildBrain({ outDir: "dist" }), buildDelegates()]);
  warmBrain({ outDir: "dist" });
  process.stderr.write(`plexus: built in ${Math.round(performance.now() - started)} ms\n`);
} catch (error) {
  process.stderr.write(`plexus: the build failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
