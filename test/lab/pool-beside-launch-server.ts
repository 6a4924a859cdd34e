// A program that the launcher executes as its daemon: a pool of sandbox processes that the launch server starts. Tries the limits of a call in them. Writes
// one line of JSON. Arguments: the installation's directory.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { proveLimits } from "../../host/node/prove-sandbox/prove-limits.ts";
import { installedJail } from "../../host/sandbox/launcher/jail.ts";
import { takeConfinement } from "../../host/sandbox/launcher/launch-server.ts";
import { defaultLimits } from "../../host/sandbox/limits.ts";
import { ProcessPool } from "../../host/sandbox/process/pool.ts";
import { SandboxProcess } from "../../host/sandbox/process/sandbox-process.ts";
import { defaultUids } from "../../src/configuration/keys/sandbox-uids.ts";
import { sandboxProcesses, zygoteOf } from "./sandbox-processes.ts";

/** Starts a copy without memory for its check, then another one. Answers the end of the first, and the zygotes of both. */
async function crashACopy(): Promise<object> {
  const { memoryPages, tableEntries } = defaultLimits;
  const init = { node: execPath, entry, readable: dirname(entry), memoryPages, tableEntries, jail: jailOfServer, isCopy: true };
  const zygotes = [zygoteOf("self")];
  const first = new SandboxProcess({ ...init, bytes: { writable: 1024, resident: 1024 ** 3 } });
  await first.ready();
  const { reason: ended } = await first.ended;
  for (let rest = 10, isReady = false; rest > 0 && !isReady; rest--) {
    const next = new SandboxProcess(init);
    isReady = await next.ready();
    if (isReady) zygotes.push(zygoteOf("self"));
    next.kill("was ended by the test");
    await next.ended;
  }
  return { ended, zygotes };
}

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
const crashed = await crashACopy();
process.stdout.write(`${JSON.stringify({ names, controls, limits, crashed })}\n`);
process.exit(0);
