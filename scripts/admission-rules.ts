// The rules of admission as a digest: that of the code which examines a component, with everything that it imports. A build defines it for
// host/sandbox/process/admission-rules.ts, so that a record of an admitted component ends with every change of the rules.

import { createHash } from "node:crypto";
import { rolldown, type RolldownPluginOption } from "rolldown";
import { refuseUnresolved } from "./refuse-unresolved.ts";

/** The digest, as hexadecimal text. `plugins`: those of a test, which change a module. */
export async function admissionRulesDigest(plugins: RolldownPluginOption = []): Promise<string> {
  const input = "host/sandbox/admission/examine.ts";
  const bundle = await rolldown({ input, platform: "node", external: [/^node:/], onLog: refuseUnresolved, plugins });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  const hash = createHash("sha256");
  for (const each of output) if (each.type === "chunk") hash.update(each.code);
  return hash.digest("hex");
}
