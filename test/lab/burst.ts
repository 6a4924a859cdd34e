// Samples a daemon's memory, queue and children while many pods with large native plugins are attached at once.

import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

import { httpRequest } from "./http-request.ts";
import { compiledPlugin } from "./compiled.ts";
import { startDaemon, type TestDaemon } from "./daemon.ts";
import type { Answer, Installation } from "./plexus.ts";
import { readPrometheusText, valueOf } from "./prometheus-text.ts";
import { childrenOf, programOf } from "./processes.ts";

/** Calls that the daemon serves at once, each with a plugin of 55 MB. */
export const servedAtOnce = 8;
const warmUp = 20;
const sampleMs = 20;
const maxTries = 10;
/** The plugins of a burst end after this time also if the queue never fills. */
const maxHeldMs = 60_000;

export interface Burst {
  /** stdout and stderr of each failed call. */
  readonly failures: readonly string[];
  /** The daemon's resident set before the burst, and its maximum since then, in MiB. */
  readonly before: number;
  readonly highest: number;
  /** The maxima of `plexus_queue_calls` over all samples. */
  readonly active: number;
  readonly waiting: number;
  /** Count of `plexus_queue_wait_seconds`. */
  readonly waited: number;
  /** The maximum of plugins that ran at one sample. */
  readonly plugins: number;
  /** Plugins that were children of the daemon, over all samples. */
  readonly daemonChildren: number;
}

/** Sends `pods` ADDs at once, then as many DELs, to a daemon that only this burst uses. */
export async function burst(plexus: Installation, pods: number): Promise<Burst> {
  const plugin = join(plexus.cniPath, "glutton");
  copyFileSync(compiledPlugin("glutton"), plugin);
  const socket = join(plexus.directory, "daemon", "plexus.sock");
  const daemon = await startDaemon({ socket, args: ["--calls", String(servedAtOnce)] });
  const config = {
    cniVersion: "1.0.0",
    name: "burst",
    type: "plexus",
    cniDir: plexus.state("lib"),
    runDir: plexus.state("run"),
    delegates: [{ cniVersion: "1.0.0", name: "large", plugins: [{ type: "glutton" }] }],
  };
  const all = async (verb: string, name: string, count: number): Promise<readonly Answer[]> => {
    const answers: Promise<Answer>[] = [];
    for (let number = 0; number < count; number++) {
      const attachment = { containerId: `${name}-${number}`, netns: "/run/netns/none", ifname: "eth0" };
      answers.push(plexus.call({ verb, ...attachment, config, env: { PLEXUS_SOCKET: socket } }));
      // A fork of this process may take 200 ms on a busy machine, and a shim waits 30 s for the end of its stdin, which needs a turn of this loop.
      await nextTurn();
    }
    return Promise.all(answers);
  };
  try {
    await all("ADD", "warm", warmUp);
    await all("DEL", "warm", warmUp);
    const before = memoryOf(daemon, "VmRSS");
    // The first plugins run until the queue is full: how many calls meet must not depend on the machine's speed.
    const gate = join(plexus.cniPath, "gate");
    writeFileSync(gate, "");
    // 5 resets VmHWM to the current resident set (proc(5)).
    writeFileSync(`/proc/${daemon.pid}/clear_refs`, "5");
    const sampling = new AbortController();
    const samples = watch(daemon, { statusSocket: join(dirname(socket), "status.sock"), plugin, gate }, sampling.signal);
    // Its failure is the burst's, after the ADDs.
    samples.catch(() => undefined);
    const added = await all("ADD", "pod", pods);
    sampling.abort();
    const sampled = await samples;
    const highest = memoryOf(daemon, "VmHWM");
    const deleted = await all("DEL", "pod", pods);
    const failures = [...added, ...deleted].filter(({ status }) => status !== 0).map(({ stdout, stderr }) => stdout + stderr);
    return { failures, before, highest, ...sampled };
  } finally {
    await daemon.stop();
  }
}

async function watch(
  daemon: TestDaemon,
  { statusSocket, plugin, gate }: { readonly statusSocket: string; readonly plugin: string; readonly gate: string },
  signal: AbortSignal,
): Promise<Pick<Burst, "active" | "waiting" | "waited" | "plugins" | "daemonChildren">> {
  const maxima = { active: 0, waiting: 0, plugins: 0, daemonChildren: 0 };
  // The daemon closes a connection without a request for five seconds. On a busy machine this process may be the silent side: it asks again.
  const metrics = async (): Promise<ReturnType<typeof readPrometheusText>> => {
    for (let tries = 1; ; tries++) {
      try {
        return readPrometheusText((await httpRequest(statusSocket, "/metrics")).body);
      } catch (error) {
        if (tries === maxTries) throw error;
      }
    }
  };
  const sample = async (): Promise<void> => {
    const families = await metrics();
    maxima.active = Math.max(maxima.active, valueOf(families, "plexus_queue_calls", { state: "active" }) ?? 0);
    maxima.waiting = Math.max(maxima.waiting, valueOf(families, "plexus_queue_calls", { state: "waiting" }) ?? 0);
    maxima.daemonChildren += childrenOf(daemon.pid).filter((child) => programOf(child) === plugin).length;
    // The shims are children of this process, and the plugins are children of the shims.
    const shims = childrenOf(process.pid);
    maxima.plugins = Math.max(maxima.plugins, shims.flatMap(childrenOf).filter((each) => programOf(each) === plugin).length);
  };
  const started = performance.now();
  while (!signal.aborted) {
    await sample();
    const isFull = maxima.active >= servedAtOnce && maxima.waiting > 0 && maxima.plugins > 0;
    if (isFull || performance.now() - started > maxHeldMs) rmSync(gate, { force: true });
    await delay(sampleMs);
  }
  return { ...maxima, waited: valueOf(await metrics(), "plexus_queue_wait_seconds", {}, "_count") ?? 0 };
}

/** MiB. */
function memoryOf({ pid }: TestDaemon, field: "VmRSS" | "VmHWM"): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "mu").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
