// Bundles the brain: the one-shot brain as two scripts, the daemon and the guest process as CommonJS.

import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type LogLevel, type LogOrStringHandler, type RolldownLog, rolldown } from "rolldown";

import { oneShotBootstrap, packed } from "./one-shot-scripts.ts";

export interface BuildBrainInit {
  /** Where `brain.cjs` and its code go. */
  readonly outDir: string;
}

/**
 * Makes `outDir/brain.cjs` (what the hands start), `outDir/plexusd.cjs` (the daemon), `outDir/plexusctl.cjs`, `outDir/brain/` (their code) and `outDir/bin/node` (the
 * pinned runtime). CommonJS, because Node loads it sooner: the one-shot brain started in 1.45 times bare Node's time where ES modules took 1.78.
 * The code cache comes from `warmBrain`, which needs hands and delegates too; without it the one-shot brain compiles what it runs, and is slower.
 */
export async function buildBrain({ outDir }: BuildBrainInit): Promise<void> {
  const bundle = await rolldown({
    input: {
      "one-shot": "host/cli/one-shot.ts",
      "guest-process": "host/sandbox/process/main.ts",
      daemon: "host/daemon/main.ts",
      plexusctl: "host/plexusctl/main.ts",
    },
    platform: "node",
    external: [/^node:/],
    preserveEntrySignatures: "allow-extension",
    onLog: refuseUnresolved,
  });
  const directory = join(outDir, "brain");
  const fresh = join(outDir, ".brain.new");
  rmSync(fresh, { recursive: true, force: true });
  const { output } = await bundle.write({
    dir: fresh,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
  });
  await bundle.close();
  for (const [name, script] of packed(output.filter((each) => each.type === "chunk"))) writeFileSync(join(fresh, name), script);
  rmSync(directory, { recursive: true, force: true });
  renameSync(fresh, directory);
  writeFileSync(join(outDir, "brain.cjs"), oneShotBootstrap({ directory: codeDirectory, record: false }));
  writeFileSync(join(outDir, "plexusd.cjs"), bootstrapOf("daemon"));
  writeFileSync(join(outDir, "plexusctl.cjs"), `#!/usr/bin/env node\n${bootstrapOf("plexusctl")}`, { mode: 0o755 });
  linkRuntime(join(outDir, "bin"));
}

/** Rolldown's `onLog`: a package that isn't there ends the build. Rolldown itself warns, and leaves a program that can't start. */
export function refuseUnresolved(level: LogLevel, log: RolldownLog, report: LogOrStringHandler): void {
  if (log.code === "UNRESOLVED_IMPORT") report("error", { ...log, message: `${log.message}\nnpm install gets what is missing` });
  else report(level, log);
}

// Resolved once: `brain` is a link where it is installed, which an update turns to another directory while programs run that load more of
// their code later.
const codeDirectory = 'require("node:fs").realpathSync(__dirname + "/brain")';

// The compile cache lies beside the code, so that it is as trusted as the code; where the directory is read-only
// Node goes on without. Who starts it by hand may have the distribution's Node on PATH.
const bootstrapOf = (program: string): string => `"use strict";
if (Number.parseInt(process.versions.node, 10) < 26) {
  process.stderr.write("plexus: Node " + process.versions.node + " is too old for this: start it with " + __dirname + "/bin/node\\n");
  process.exit(1);
}
const directory = ${codeDirectory};
require("node:module").enableCompileCache(directory + "/cache");
require(directory + "/${program}.cjs");
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
