// `npm run install-node -- --home DIR --cni-bin DIR`: builds if necessary, and installs the build on this node as `plexusctl install` does.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { hideExperimentalWarnings } from "../host/programs/plexusctl/experimental-warnings.ts";
import { installCommand } from "../host/programs/plexusctl/install.ts";

hideExperimentalWarnings();
const from = resolve(import.meta.dirname, "../dist");
if (!existsSync(join(from, "plexus"))) {
  const built = spawnSync(process.execPath, [resolve(import.meta.dirname, "build.ts")], { stdio: "inherit" });
  if (built.status !== 0) process.exit(1);
}
const { stdout, stderr, status } = await installCommand(["--from", from, ...process.argv.slice(2)]);
process.stdout.write(stdout);
if (stderr !== undefined) process.stderr.write(`plexus: ${stderr}\n`);
process.exitCode = status;
