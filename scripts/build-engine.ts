// Bundles the programs: the one-shot engine as two scripts; the daemon, plexusctl, the controller and the sandbox process as CommonJS; and the
// page of plexusctl.

import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

import { delegateCommands } from "../host/programs/plexusctl/delegate/programs.ts";
import { admissionRulesDigest } from "./admission-rules.ts";
import { buildPage } from "./build-page.ts";
import { writeBundledPackages } from "./bundled-packages.ts";
import { guestBootstrap, guestProgramName, oneShotBootstrap, packed } from "./one-shot-scripts.ts";
import { refuseUnresolved } from "./refuse-unresolved.ts";

/** The settings of a build. */
export interface BuildEngineInit {
  /** The output directory. */
  readonly outDir: string;
}

/**
 * Makes `outDir/plexusd.cjs` (the daemon, and with `--once` the one-shot engine that the shim starts), `outDir/plexusctl.cjs`, `outDir/plexus-controller.cjs`,
 * `outDir/engine/` (their code) and `outDir/bin/node` (the pinned Node). The format is CommonJS, because Node loads it faster: the one-shot engine starts in 1.45 times the time of
 * bare Node, with ES modules in 1.78 times. `warmEngine` makes the code cache, for which it also needs the shim and the delegates. Without
 * the cache the one-shot engine works, but compiles its code in each call.
 */
export async function buildEngine({ outDir }: BuildEngineInit): Promise<void> {
  const bundle = await rolldown({
    input: {
      once: "host/programs/plexusd/once.ts",
      "guest-process": "host/sandbox/process/main.ts",
      zygote: "host/sandbox/zygote/main.ts",
      daemon: "host/programs/plexusd/main.ts",
      plexusctl: "host/programs/plexusctl/main.ts",
      controller: "host/programs/controller/main.ts",
    },
    platform: "node",
    external: [/^node:/],
    preserveEntrySignatures: "allow-extension",
    transform: { define: { PLEXUS_ADMISSION_RULES: JSON.stringify(await admissionRulesDigest()) } },
    onLog: refuseUnresolved,
  });
  const directory = join(outDir, "engine");
  const fresh = join(outDir, ".engine.new");
  rmSync(fresh, { recursive: true, force: true });
  const { output } = await bundle.write({
    dir: fresh,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
  });
  await bundle.close();
  const delegateModules = await buildDelegateCommands(join(fresh, delegateCommands));
  for (const [name, script] of packed(output.filter((each) => each.type === "chunk"))) writeFileSync(join(fresh, name), script);
  writeFileSync(join(fresh, guestProgramName), guestBootstrap({ directory: "__dirname", record: false }));
  const pageModules = await buildPage(fresh);
  rmSync(directory, { recursive: true, force: true });
  renameSync(fresh, directory);
  writeFileSync(join(outDir, "plexusd.cjs"), daemonBootstrap);
  writeFileSync(join(outDir, "plexus-controller.cjs"), bootstrapOf("controller"));
  writeFileSync(join(outDir, "plexusctl.cjs"), `#!/usr/bin/env node\n${bootstrapOf("plexusctl")}`, { mode: 0o755 });
  await buildKubectlPlugin(outDir);
  const modules = output.flatMap((each) => (each.type === "chunk" ? each.moduleIds : []));
  writeBundledPackages(outDir, [...modules, ...delegateModules, ...pageModules]);
  linkRuntime(join(outDir, "bin"));
}

// Resolved once at the start. On a node, `engine` is a link that an update changes, and running programs load more of their code later.
const codeDirectory = 'require("node:fs").realpathSync(__dirname + "/engine")';

// The compile cache is beside the code, so that only users who may change the code may change the cache. In a read-only directory Node works
// without it. The version is checked, because a user who starts the program by hand may have the distribution's Node on PATH. A package of npm
// has its Node in a package of its own.
const bootstrapOf = (program: string): string => `"use strict";
if (Number.parseInt(process.versions.node, 10) < 26) {
  let node = __dirname + "/bin/node";
  try {
    node = require.resolve("node-linux-" + process.arch + "/bin/node");
  } catch {}
  const args = ["--disable-warning=ExperimentalWarning", __filename].concat(process.argv.slice(2));
  const { error, status } = require("node:child_process").spawnSync(node, args, { stdio: "inherit" });
  if (error) process.stderr.write("plexus: Node " + process.versions.node + " is too old, and Node 26 does not start: " + error.message + "\\n");
  process.exit(status === null ? 1 : status);
}
const directory = ${codeDirectory};
require("node:module").enableCompileCache(directory + "/cache");
require(directory + "/${program}.cjs");
`;

// `plexusd --once` is the one-shot engine, whose code lies in scripts with a code cache.
const daemonBootstrap = `"use strict";
if (process.argv[2] === "--once") {
${oneShotBootstrap({ directory: codeDirectory, record: false })}} else {
${bootstrapOf("daemon")}}
`;

// execa needs Node 22. The check comes before the bundle's code, which an older Node cannot run.
const kubectlBanner = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < 22) {
  process.stderr.write("kubectl plexus: needs Node.js 22 or newer as \\"node\\" on PATH; this is " + process.versions.node + "\\n");
  process.exit(1);
}`;

/** Bundles the commands of `plexusctl delegate` that need only the sandbox. One file, so that the division of the engine's code stays. */
async function buildDelegateCommands(file: string): Promise<readonly string[]> {
  const input = "delegates/sdk/program/sandbox-main.ts";
  const bundle = await rolldown({ input, platform: "node", external: [/^node:/], onLog: refuseUnresolved });
  const { output } = await bundle.write({ file, format: "cjs", codeSplitting: false });
  await bundle.close();
  return output.flatMap((each) => (each.type === "chunk" ? each.moduleIds : []));
}

/** Bundles `kubectl-plexus.cjs`: one file for an administrator's machine, for Node 22 or newer. */
async function buildKubectlPlugin(outDir: string): Promise<void> {
  const bundle = await rolldown({
    input: { "kubectl-plexus": "host/programs/kubectl-plexus/main.ts" },
    platform: "node",
    external: [/^node:/],
    onLog: refuseUnresolved,
  });
  const file = join(outDir, "kubectl-plexus.cjs");
  await bundle.write({ file, format: "cjs", banner: kubectlBanner, codeSplitting: false });
  await bundle.close();
  chmodSync(file, 0o755);
}

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
