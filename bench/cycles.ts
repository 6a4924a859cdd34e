// daemon-rss: the memory of the daemon and its sandbox processes, idle and after many ADD/DEL cycles with three loaded delegates, with both starts of
// sandbox processes. The chain needs little kernel work: WASM IPAM, WASM status-shaper, and status-shaper again under a third name and digest.

import { appendFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";

import { filesBelow } from "../test/lab/namespaces.ts";
import { dist, installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { type LaneCall, runAll } from "./lanes.ts";
import { type Benchmark, memoryRows } from "./measure.ts";
import { familyPssMiB, rssMiB, startObservedDaemon, restMs } from "./observed-daemon.ts";

const components = ["ipam-host-local", "status-shaper"];
/** The number of all cycles, and of the cycles before the first measurement. */
const cycles = Number(process.env["PLEXUS_BENCH_CYCLES"] ?? 10_000);
const settled = cycles / 5;
const lanes = 8;
/** Bounds of the memory, in MiB. */
const maxEngine = 120;
const maxFamily = 220;
/** The aims with copies of a zygote, in MiB. */
const familyAim = 100;
const idleAim = 60;

/** Memory of the engine alone, and of the engine with its sandbox processes, in MiB. */
interface Memory {
  readonly engine: number;
  readonly family: number;
}

interface Growth {
  /** Before the first call, with the two warm sandbox processes. */
  readonly idle: Memory;
  readonly before: Memory;
  readonly after: Memory;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The median of 5 measurements half a second apart, because V8 returns memory with a delay. */
async function memoryOf(pid: number): Promise<Memory> {
  await wait(restMs);
  const measurements: Memory[] = [];
  for (let look = 0; look < 5; look++) {
    await wait(500);
    measurements.push({ engine: rssMiB(pid), family: familyPssMiB(pid) });
  }
  const middle = (of: (memory: Memory) => number): number => measurements.map(of).toSorted((a, b) => a - b)[2] ?? Number.NaN;
  return { engine: middle(({ engine }) => engine), family: middle(({ family }) => family) };
}

/** Appends an unused custom section (id 0, a name of one byte), which gives the same component another digest. */
function installTwin(cniPath: string): void {
  const twin = join(cniPath, "status-shaper-twin.wasm");
  copyFileSync(join(dist, "delegates", "status-shaper.wasm"), twin);
  appendFileSync(twin, Buffer.from([0, 2, 1, 0x74]));
}

/** A chain of three delegates. */
function cycledConfiguration(cniDir: string, runDir: string, leases: string): object {
  const shaper = { dns: { nameservers: ["10.0.0.1"] } };
  return {
    cniVersion: "1.0.0",
    name: "cycles",
    type: "plexus",
    cniDir,
    runDir,
    wasm: {
      grants: {
        "ipam-host-local": { log: {}, leases: { directories: [leases] }, resolver: {} },
        "status-shaper": { log: {} },
        "status-shaper-twin": { log: {} },
      },
    },
    delegates: [
      {
        cniVersion: "1.0.0",
        name: "cycled",
        plugins: [
          { type: "ipam-host-local", ipam: { type: "ipam-host-local", subnet: "10.73.0.0/16" } },
          { type: "status-shaper", ...shaper },
          { type: "status-shaper-twin", ...shaper },
        ],
      },
    ],
  };
}

async function measureGrowth(start: "copy" | "new"): Promise<Growth | string> {
  const missingReason = missingBuild({ components });
  if (missingReason !== undefined) return missingReason;
  const plexus = installPlexus({ components });
  installTwin(plexus.cniPath);
  const [cniDir, runDir, leases] = [plexus.state("lib"), plexus.runState("run"), plexus.state("leases")];
  const daemon = await startObservedDaemon({
    socket: join(plexus.directory, "daemon", "plexus.sock"),
    // A daemon prepares components that the calls of before have left in its state directory.
    args: ["--sandbox-start", start, "--state-dir", cniDir],
  });
  const config = cycledConfiguration(cniDir, runDir, leases);
  const program = join(plexus.cniPath, "plexus");
  const stdin = JSON.stringify(config);
  const call = (verb: string, container: number): LaneCall => ({
    program,
    stdin,
    env: runtimeEnvironment(
      {
        verb,
        containerId: `cycle-${container}`,
        netns: "/run/netns/none",
        ifname: "eth0",
        env: { PLEXUS_SOCKET: daemon.socket },
      },
      plexus.cniPath,
    ),
  });
  let done = 0;
  const cycle = async (until: number): Promise<void> => {
    for (; done < until; done += settled) {
      const items = Array.from({ length: settled }, (_, index) => [call("ADD", done + index), call("DEL", done + index)]);
      await runAll(`cycles from ${done}`, lanes, items);
    }
  };
  try {
    const idle = await memoryOf(daemon.pid);
    await cycle(settled);
    const before = await memoryOf(daemon.pid);
    await cycle(cycles);
    const after = await memoryOf(daemon.pid);
    const left = [cniDir, runDir, leases].flatMap((directory) => filesBelow(directory));
    if (left.some((path) => path.startsWith("journal/") || path.startsWith("cycled/10.")))
      throw new Error(`left behind: ${left.slice(0, 5).join(", ")}`);
    return { idle, before, after };
  } finally {
    await daemon.stop();
    plexus.dispose();
  }
}

const row = memoryRows(() => measureGrowth("new"));
const copyRow = memoryRows(() => measureGrowth("copy"));

export const cycleBenchmarks: readonly Benchmark[] = [
  row(
    "daemon-rss",
    `RSS of the engine after ${cycles} ADD/DEL cycles with three delegates / its bound`,
    `at most ${maxEngine} MiB`,
    ({ after }) => ({ subject: [after.engine], baseline: [maxEngine] }),
  ),
  row(
    "daemon-rss-family",
    `engine and sandbox processes together (proportional set size) after ${cycles} cycles / their bound`,
    `at most ${maxFamily} MiB; aim: ${familyAim} MiB`,
    ({ after }) => ({ subject: [after.family], baseline: [maxFamily] }),
  ),
  row(
    "daemon-rss-growth",
    `RSS of the engine after ${cycles} cycles / after ${settled}`,
    "ratio under 1.05",
    ({ before, after }) => ({ subject: [after.engine], baseline: [before.engine] }),
  ),
  row(
    "daemon-rss-family-growth",
    `proportional set size of engine and sandbox processes after ${cycles} cycles / after ${settled}`,
    "ratio under 1.05",
    ({ before, after }) => ({ subject: [after.family], baseline: [before.family] }),
  ),
  row(
    "daemon-rss-idle",
    "engine and two idle sandbox processes together (proportional set size) before the first call / their aim",
    `at most ${idleAim} MiB`,
    ({ idle }) => ({ subject: [idle.family], baseline: [idleAim] }),
  ),
  copyRow("daemon-rss-idle-copy", "the same with --sandbox-start copy / the same aim", `at most ${idleAim} MiB`, ({ idle }) => ({
    subject: [idle.family],
    baseline: [idleAim],
  })),
  copyRow(
    "daemon-rss-family-copy",
    `engine and sandbox processes together (proportional set size) after ${cycles} cycles with --sandbox-start copy / their aim`,
    `at most ${familyAim} MiB`,
    ({ after }) => ({ subject: [after.family], baseline: [familyAim] }),
  ),
];
