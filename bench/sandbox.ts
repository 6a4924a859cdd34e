// sandbox-…-LEVEL: what the jail of sandbox processes costs. Each level against no jail, in turns: time of the first call, of a warm call, of 32
// calls at once, and resident memory of a process with its launcher. `strict` here means a process for each call, with every control that
// this machine has.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Admission } from "../host/sandbox/admission/admit.ts";
import { defaultJail } from "../host/sandbox/launcher/jail.ts";
import { limitsOf } from "../host/sandbox/limits.ts";
import type { PoolSettings } from "../host/sandbox/process/pool-settings.ts";
import { ProcessPool } from "../host/sandbox/process/pool.ts";
import { dist, missingBuild } from "../test/lab/plexus.ts";
import { childrenOf } from "../test/lab/sandbox-processes.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";

const levels = ["none", "process", "strict"] as const;
type Level = (typeof levels)[number];

const burst = 32;
const limits = limitsOf({});

/** A pool of this level; `warm` processes are started ahead. */
function poolOf(level: Level, init: PoolSettings): ProcessPool {
  const entry = join(dist, "engine", "guest-process.cjs");
  return new ProcessPool({
    entry,
    jail: level === "none" ? undefined : defaultJail(),
    processPerCall: level === "strict",
    ...init,
  });
}

/** A call of the WASM status-shaper, which fails if the call does. */
function shaperCall(): (pool: ProcessPool) => Promise<void> {
  const bytes = readFileSync(join(dist, "delegates", "status-shaper.wasm"));
  const admitted = new Admission().admit(bytes, { granted: ["log"], limits });
  if (!admitted.ok) throw new Error(admitted.fault.msg);
  const request = {
    call: { remainingMs: 60_000, granted: ["log"] },
    network: { cniVersion: "1.0.0", name: "bench", config: '{"cniVersion":"1.0.0","name":"bench","type":"status-shaper"}' },
    attachment: { containerId: "bench", ifname: "eth0", args: [] },
  };
  return async (pool) => {
    const call = { component: admitted.value, verb: "del", request, limits, deadlineMs: 60_000 } as const;
    const answer = await pool.call(call, { log: { write: () => undefined } });
    if (!answer.ok) throw new Error(answer.fault.msg);
  };
}

/** Waits until the pool has its warm processes again, so that a sample does not wait for the replacement of the last sample's process. */
async function rest(pool: ProcessPool, warm: number): Promise<void> {
  while (pool.counts.idle < warm || pool.counts.starting > 0) await setTimeout(1);
}

async function timedMs(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

/** Samples a level against no jail. `sample` measures one pool, which exists for all samples. */
async function withPools(
  level: Level,
  { warm, samples }: { readonly warm: number; readonly samples: number },
  sample: (pool: ProcessPool) => Promise<number>,
): Promise<Samples> {
  const subject = poolOf(level, { warm });
  const baseline = poolOf("none", { warm });
  const sampleOf = (pool: ProcessPool) => async (): Promise<number> => {
    await rest(pool, warm);
    return sample(pool);
  };
  try {
    return await inTurns({ subject: sampleOf(subject), baseline: sampleOf(baseline), warmUp: 5, samples });
  } finally {
    await Promise.all([subject.close(), baseline.close()]);
  }
}

function lacking(): string | undefined {
  return missingBuild({ components: ["status-shaper"] });
}

function firstCallOf(level: Level): Benchmark {
  return {
    id: `sandbox-first-call-${level}`,
    title: `start of a sandbox process and its first call, level ${level} / without a jail`,
    target: "ratio under 1.25",
    async sample() {
      const reason = lacking();
      if (reason !== undefined) return reason;
      const call = shaperCall();
      const firstCall = (of: Level) => async (): Promise<number> => {
        const started = performance.now();
        const pool = poolOf(of, { warm: 0, maxProcesses: 1 });
        await call(pool);
        const ms = performance.now() - started;
        await pool.close();
        return ms;
      };
      return inTurns({ subject: firstCall(level), baseline: firstCall("none"), warmUp: 2, samples: 20 });
    },
  };
}

function callOf(level: Level): Benchmark {
  return {
    id: `sandbox-call-${level}`,
    title: `one call in a warm sandbox process, level ${level} / without a jail`,
    target: "ratio under 1.05; strict: under 10, because each call compiles its component",
    async sample() {
      const reason = lacking();
      if (reason !== undefined) return reason;
      const call = shaperCall();
      return withPools(level, { warm: 1, samples: level === "strict" ? 30 : 300 }, (pool) => timedMs(() => call(pool)));
    },
  };
}

function burstOf(level: Level): Benchmark {
  return {
    id: `sandbox-c32-${level}`,
    title: `${burst} calls at once, level ${level} / without a jail`,
    target: "ratio under 1.05; strict: a process for each call",
    async sample() {
      const reason = lacking();
      if (reason !== undefined) return reason;
      const call = shaperCall();
      const samples = level === "strict" ? 5 : 50;
      return withPools(level, { warm: 2, samples }, (pool) =>
        timedMs(() => Promise.all(Array.from({ length: burst }, () => call(pool)))),
      );
    },
  };
}

/** Resident memory of this process' descendants that were not there before, in MiB. */
function residentMiB(before: ReadonlySet<number>): number {
  const family = childrenOf("self").flatMap((pid) => [pid, ...childrenOf(pid)]);
  const kib = family
    .filter((pid) => !before.has(pid))
    .map((pid) => Number(/^VmRSS:\s*(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0));
  return kib.reduce((sum, each) => sum + each, 0) / 1024;
}

/** Starts a process of this level and answers its resident memory. */
const memory = (of: Level) => async (): Promise<number> => {
  const before = new Set(childrenOf("self").flatMap((pid) => [pid, ...childrenOf(pid)]));
  const pool = poolOf(of, { warm: 1, maxProcesses: 1 });
  await rest(pool, 1);
  const mib = residentMiB(before);
  await pool.close();
  return mib;
};

function memoryOf(level: Level): Benchmark {
  return {
    id: `sandbox-rss-${level}`,
    title: `resident memory of a sandbox process that is ready, with its launcher, level ${level} / without a jail`,
    target: "ratio under 1.02",
    unit: "MiB",
    async sample() {
      const reason = lacking();
      if (reason !== undefined) return reason;
      return inTurns({ subject: memory(level), baseline: memory("none"), warmUp: 1, samples: 8 });
    },
  };
}

/** The rows of all levels. */
export const sandboxBenchmarks: readonly Benchmark[] = [firstCallOf, callOf, burstOf, memoryOf].flatMap((of) => levels.map(of));
