// `npm run install-node -- --home DIR --cni-bin DIR`: builds if necessary, and installs the build on this node as `plexusctl install` does.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { hideExperimentalWarnings } from "../host/programs/plexusctl/experimental-warnings.ts";
import { runCommandLine } from "../host/programs/plexusctl/run-command-line.ts";

hideExperimentalWarnings();
const from = resolve(import.meta.dirname, "../dist");
if (!existsSync(join(from, "plexus"))) {
  const built = spawnSync(process.execPath, [resolve(import.meta.dirname, "build.ts")], { stdio: "inherit" });
  if (built.status !== 0) process.exit(1);
}
const { stdout, stderr, status } = await runCommandLine(["install", "--from", from, ...process.argv.slice(2)], false);
process.stdout.write(stdout);
if (stderr !== undefined) process.stderr.write(`plexus: ${stderr}\n`);
process.exitCode = status;
