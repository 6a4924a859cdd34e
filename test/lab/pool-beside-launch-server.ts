// A program that the launcher executes as its daemon: a pool of sandbox processes that the launch server starts. Tries the limits of a call in them. Writes
// one line of JSON. Arguments: the installation's directory.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { proveLimits } from "../../host/node/prove-sandbox/prove-limits.ts";
import { installedJail } from "../../host/sandbox/launcher/jail.ts";
import { takeConfinement } from "../../host/sandbox/launcher/launch-server.ts";
import { ProcessPool } from "../../host/sandbox/process/pool.ts";
import { defaultUids } from "../../src/configuration/keys/sandbox-uids.ts";
import { sandboxProcesses } from "./sandbox-processes.ts";

const [, , home = ""] = process.argv;
const { server } = takeConfinement(process.env);
const jail = installedJail(home, { level: "process", uids: defaultUids, requiresOwnUid: true });
const entry = join(home, "engine", "guest-process.cjs");
const jailOfServer = { ...jail, ...(server === undefined ? {} : { server: { ...server, hasZygote: true } }) };
const pool = new ProcessPool({
  entry,
  jail: jailOfServer,
  warm: 1,
  maxProcesses: 1,
});
while (pool.counts.idle === 0) await new Promise((resolve) => setTimeout(resolve, 20));
const names = sandboxProcesses().map((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim());
const controls = [...(pool.controls ?? [])];
const limits = await proveLimits(pool);
await pool.close();
process.stdout.write(`${JSON.stringify({ names, controls, limits })}\n`);
process.exit(0);
