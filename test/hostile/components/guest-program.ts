// The sandbox process's program in one file, as the build makes it: it starts in a third of the time.

import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

/** Bundles it and answers its absolute path. */
export async function bundleGuestProgram(): Promise<string> {
  const dir = resolve("dist/test/guest-program");
  const bundle = await rolldown({ input: "host/sandbox/process/main.ts", platform: "node", external: [/^node:/] });
  await bundle.write({ dir, format: "cjs", entryFileNames: "guest-process.cjs" });
  await bundle.close();
  return join(dir, "guest-process.cjs");
}
