// Many pods at once, each with a native plugin that needs much memory: what becomes of the daemon meanwhile.

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { ask } from "../harness/ask.ts";
import { compiledPlugin } from "../harness/compiled.ts";
import { startDaemon, type TestDaemon } from "../harness/daemon.ts";
import type { Answer, Installation } from "../harness/plexus.ts";
import { readPrometheusText, valueOf } from "../harness/prometheus-text.ts";
import { childrenOf, programOf } from "./processes.ts";

/** Calls that the daemon serves at once: 55 MB each. */
export const servedAtOnce = 8;
const warmUp = 20;
const lookMs = 20;

export interface Burst {
  /** Failed answers, in their own words. */
  readonly failures: readonly string[];
  /** The daemon's resident set before, and the highest since, in MiB. */
  readonly before: number;
  readonly highest: number;
  /** The most that the metrics told of at one look. */
  readonly active: number;
  readonly waiting: number;
  /** Calls whose wait the metrics have counted. */
  readonly waited: number;
  /** The most plugins that ran at one look, and how many of them were children of the daemon. */
  readonly plugins: number;
  readonly ofTheDaemon: number;
}

/** ADD of so many pods at the same moment, then DEL, with a daemon of their own. */
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
  const all = (verb: string, name: string, count: number): Promise<readonly Answer[]> =>
    Promise.all(
      Array.from({ length: count }, (_, number) => {
        const attachment = { containerId: `${name}-${number}`, netns: "/run/netns/none", ifname: "eth0" };
        return plexus.call({ verb, ...attachment, config, env: { PLEXUS_SOCKET: socket } });
      }),
    );
  try {
    await all("ADD", "warm", warmUp);
    await all("DEL", "warm", warmUp);
    const before = memoryOf(daemon, "VmRSS");
    // From here on VmHWM is the highest since.
    writeFileSync(`/proc/${daemon.pid}/clear_refs`, "5");
    const looking = new AbortController();
    const looks = watch(daemon, join(dirname(socket), "status.sock"), plugin, looking.signal);
    const added = await all("ADD", "pod", pods);
    looking.abort();
    const seen = await looks;
    const highest = memoryOf(daemon, "VmHWM");
    const deleted = await all("DEL", "pod", pods);
    const failures = [...added, ...deleted].filter(({ status }) => status !== 0).map(({ stdout, stderr }) => stdout + stderr);
    return { failures, before, highest, ...seen };
  } finally {
    await daemon.stop();
  }
}

async function watch(
  daemon: TestDaemon,
  statusSocket: string,
  plugin: string,
  signal: AbortSignal,
): Promise<Pick<Burst, "active" | "waiting" | "waited" | "plugins" | "ofTheDaemon">> {
  const most = { active: 0, waiting: 0, plugins: 0, ofTheDaemon: 0 };
  const metrics = async () => readPrometheusText((await ask(statusSocket, "/metrics")).body);
  const look = async (): Promise<void> => {
    const told = await metrics();
    most.active = Math.max(most.active, valueOf(told, "plexus_queue_calls", { state: "active" }) ?? 0);
    most.waiting = Math.max(most.waiting, valueOf(told, "plexus_queue_calls", { state: "waiting" }) ?? 0);
    most.ofTheDaemon += childrenOf(daemon.pid).filter((child) => programOf(child) === plugin).length;
    // The hands are this process' children, and the plugins theirs.
    const hands = childrenOf(process.pid);
    most.plugins = Math.max(most.plugins, hands.flatMap(childrenOf).filter((each) => programOf(each) === plugin).length);
  };
  while (!signal.aborted) {
    await look();
    await delay(lookMs);
  }
  return { ...most, waited: valueOf(await metrics(), "plexus_queue_wait_seconds", {}, "_count") ?? 0 };
}

/** MiB. */
function memoryOf({ pid }: TestDaemon, what: "VmRSS" | "VmHWM"): number {
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB`, "mu").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
