// The daemon of copies.ts: measures pools of the launch server's processes, with copies and with new Nodes. Writes one line of JSON (CopyTimes).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { Admission } from "../host/sandbox/admission/admit.ts";
import { installedJail } from "../host/sandbox/launcher/jail.ts";
import { takeConfinement } from "../host/sandbox/launcher/launch-server.ts";
import { limitsOf } from "../host/sandbox/limits.ts";
import { ProcessPool } from "../host/sandbox/process/pool.ts";
import type { PoolSettings } from "../host/sandbox/process/pool-settings.ts";
import { defaultUids } from "../src/configuration/keys/sandbox-uids.ts";
import { dist } from "../test/lab/plexus.ts";
import type { CopyTimes } from "./copies.ts";
import { inTurns, type Samples } from "./measure.ts";

const { server } = takeConfinement(process.env);
if (server === undefined) throw new Error("no launch server");
const limits = limitsOf({});
const bytes = readFileSync(join(dist, "delegates", "status-shaper.wasm"));
const admitted = new Admission().admit(bytes, { granted: ["log"], limits });
if (!admitted.ok) throw new Error(admitted.fault.msg);
const component = admitted.value;
const request = {
  call: { remainingMs: 60_000, granted: ["log"] },
  network: { cniVersion: "1.0.0", name: "bench", config: '{"cniVersion":"1.0.0","name":"bench","type":"status-shaper"}' },
  attachment: { containerId: "bench", ifname: "eth0", args: [] },
};

type Start = "copy" | "new";

function poolOf(start: Start, init: PoolSettings): ProcessPool {
  const installed = installedJail(dist, { level: "process", uids: defaultUids, requiresOwnUid: true });
  const jail = { ...installed, server: { descriptor: 3, ...server, pid: server?.pid ?? 0, hasZygote: start === "copy" } };
  return new ProcessPool({ entry: join(dist, "engine", "guest-process.cjs"), jail, ...init });
}

async function call(pool: ProcessPool): Promise<void> {
  const answer = await pool.call(
    { component, verb: "del", request, limits, deadlineMs: 60_000 },
    { log: { write: () => undefined } },
  );
  if (!answer.ok) throw new Error(answer.fault.msg);
}

async function rest(pool: ProcessPool): Promise<void> {
  while (pool.counts.idle < 1 || pool.counts.starting > 0) await setTimeout(1);
  // The process prepares for its first component meanwhile.
  await setTimeout(50);
}

async function timed(run: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

/** Samples with a pool for each sample. */
function withNewPools(init: PoolSettings, sample: (pool: ProcessPool) => Promise<number>): Promise<Samples> {
  const of = (start: Start) => async (): Promise<number> => {
    const pool = poolOf(start, init);
    const ms = await sample(pool);
    await pool.close();
    return ms;
  };
  return inTurns({ subject: of("copy"), baseline: of("new"), warmUp: 2, samples: 20 });
}

async function strictCalls(): Promise<Samples> {
  const pools = {
    copy: poolOf("copy", { warm: 1, processPerCall: true }),
    new: poolOf("new", { warm: 1, processPerCall: true }),
  };
  const of = (start: Start) => async (): Promise<number> => {
    await rest(pools[start]);
    return timed(() => call(pools[start]));
  };
  const samples = await inTurns({ subject: of("copy"), baseline: of("new"), warmUp: 5, samples: 30 });
  await Promise.all([pools.copy.close(), pools.new.close()]);
  return samples;
}

/** Calls of a component that the pool's only process has run before. */
async function warmCalls(): Promise<Samples> {
  const pools = { copy: poolOf("copy", { warm: 1, maxProcesses: 1 }), new: poolOf("new", { warm: 1, maxProcesses: 1 }) };
  const of = (start: Start) => (): Promise<number> => timed(() => call(pools[start]));
  const samples = await inTurns({ subject: of("copy"), baseline: of("new"), warmUp: 50, samples: 200 });
  await Promise.all([pools.copy.close(), pools.new.close()]);
  return samples;
}

async function newComponent(pool: ProcessPool): Promise<number> {
  await rest(pool);
  return timed(async () => {
    const outcome = await pool.admit({ key: component.key, bytes, limits });
    if (outcome?.result.ok !== true) throw new Error("the component was refused");
    await call(pool);
  });
}

const times: CopyTimes = {
  firstCall: await withNewPools({ warm: 0, maxProcesses: 1 }, (pool) => timed(() => call(pool))),
  newComponent: await withNewPools({ warm: 1, maxProcesses: 1 }, newComponent),
  strictCall: await strictCalls(),
  warmCall: await warmCalls(),
};
process.stdout.write(`${JSON.stringify(times)}\n`);
process.exit(0);
