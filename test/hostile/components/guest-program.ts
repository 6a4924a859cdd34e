// Bundles the sandbox process' program into one file, as the build does. The bundle starts in a third of the time.

import { join } from "node:path";
import { rolldown } from "rolldown";
import { writeByRename } from "../../../delegates/sdk/build/content-cache.ts";
import { testDist } from "../../lab/compiled.ts";

/** Bundles the program and answers the absolute path of the file. Other workers may run the file that this one replaces. */
export async function bundleGuestProgram(): Promise<string> {
  const file = join(testDist, "guest-program", "guest-process.cjs");
  const bundle = await rolldown({ input: "host/sandbox/process/main.ts", platform: "node", external: [/^node:/] });
  const { output } = await bundle.generate({ format: "cjs", codeSplitting: false });
  await bundle.close();
  await writeByRename(file, Buffer.from(output[0].code));
  return file;
}
