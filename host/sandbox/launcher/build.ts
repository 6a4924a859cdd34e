// Compiles the launcher of sandbox processes, `bin/plexus-sandbox`, like the shim: static, hardened, and without a libc where possible; and the
// zygote's addon, `bin/plexus-zygote.node`. As a script: node host/sandbox/launcher/build.ts [OUT-DIR].

import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { addonName } from "./zygote-program.ts";
import { type BuildSettings, buildProgram, type BuiltProgram } from "../../shim/build.ts";

const directory = fileURLToPath(new URL(".", import.meta.url));

const addonDirectory = join(directory, "../zygote");
/** Sources of the launcher that the addon does not have: what the launch server and its askers do. */
const ofPrograms = [
  "ask.c",
  "configuration.c",
  "daemon-calls.c",
  "fixed-path.c",
  "json-text.c",
  "main.c",
  "path-requests.c",
  "serve.c",
  "share.c",
  "sockets.c",
  "steps.c",
  "template.c",
  "zygote.c",
];

function filesEnding(folder: string, ending: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name));
}

/** Makes `outDir/bin/plexus-sandbox`, and the addon beside it. Throws with the compiler's output where no linkage works. */
export async function buildLauncher(settings: BuildSettings): Promise<BuiltProgram> {
  const outDir = join(settings.outDir, "bin");
  const sources = filesEnding(directory, ".c");
  const headers = filesEnding(directory, ".h");
  const shared = sources.filter((path) => !ofPrograms.includes(basename(path)));
  await buildProgram({
    ...settings,
    outDir,
    name: addonName,
    sources: [...shared, ...filesEnding(addonDirectory, ".c")],
    headers,
    bare: true,
    isAddon: true,
  });
  return buildProgram({ ...settings, outDir, name: "plexus-sandbox", sources, headers, bare: true });
}

if (import.meta.main) {
  const built = await buildLauncher({ outDir: process.argv[2] ?? "dist" });
  process.stderr.write(`plexus: ${built.path}: ${built.linkage}, ${built.size} bytes${built.compiled ? "" : " (unchanged)"}\n`);
}
