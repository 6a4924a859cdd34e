// daemon-rss: what the daemon and its sandbox processes hold after many ADD/DEL cycles with three delegates loaded. The chain costs the
// kernel little: WASM IPAM, WASM status-shaper, and the same component under a third name with a digest of its own.

import { appendFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";

import { filesBelow } from "../harness/namespaces.ts";
import { dist, installPlexus, missingBuild, runtimeEnvironment } from "../harness/plexus.ts";
import { type LaneCall, runAll } from "./lanes.ts";
import { type Benchmark, memoryRows } from "./measure.ts";
import { familyOf, pssMiB, rssMiB, startObservedDaemon } from "./observed-daemon.ts";

const components = ["ipam-host-local", "status-shaper"];
/** Cycles in all, and those after which growth is counted. */
const cycles = Number(process.env["PLEXUS_BENCH_CYCLES"] ?? 10_000);
const settled = cycles / 5;
const lanes = 8;
/** MiB. */
const mostBrain = 120;
const mostFamily = 220;

/** MiB of the brain and of it with its sandbox processes. */
interface Held {
  readonly brain: number;
  readonly family: number;
}

interface Growth {
  readonly before: Held;
  readonly after: Held;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The median of a few looks a moment apart: V8 gives memory back when it has time. */
async function heldBy(pid: number): Promise<Held> {
  const looks: Held[] = [];
  for (let look = 0; look < 5; look++) {
    await wait(500);
    looks.push({ brain: rssMiB(pid), family: familyOf(pid).reduce((sum, each) => sum + pssMiB(each), 0) });
  }
  const middle = (of: (held: Held) => number): number => looks.map(of).toSorted((a, b) => a - b)[2] ?? Number.NaN;
  return { brain: middle(({ brain }) => brain), family: middle(({ family }) => family) };
}

/** A custom section that nobody reads (id 0, one byte of a name) makes the same component another one. */
function installTwin(cniPath: string): void {
  const twin = join(cniPath, "status-shaper-twin.wasm");
  copyFileSync(join(dist, "delegates", "status-shaper.wasm"), twin);
  appendFileSync(twin, Buffer.from([0, 2, 1, 0x74]));
}

async function measureGrowth(): Promise<Growth | string> {
  const lacking = missingBuild({ components });
  if (lacking !== undefined) return lacking;
  const plexus = installPlexus({ components });
  installTwin(plexus.cniPath);
  const [cniDir, runDir, leases] = [plexus.state("lib"), plexus.runState("run"), plexus.state("leases")];
  const daemon = await startObservedDaemon({ socket: join(plexus.directory, "daemon", "plexus.sock") });
  const shaper = { dns: { nameservers: ["10.0.0.1"] } };
  const config = {
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
    await cycle(settled);
    const before = await heldBy(daemon.pid);
    await cycle(cycles);
    const after = await heldBy(daemon.pid);
    const left = [cniDir, runDir, leases].flatMap((directory) => filesBelow(directory));
    if (left.some((path) => path.startsWith("journal/") || path.startsWith("cycled/10.")))
      throw new Error(`left behind: ${left.slice(0, 5).join(", ")}`);
    return { before, after };
  } finally {
    await daemon.stop();
    plexus.dispose();
  }
}

const row = memoryRows(measureGrowth);

export const cycleBenchmarks: readonly Benchmark[] = [
  row(
    "daemon-rss",
    `RSS of the brain after ${cycles} ADD/DEL cycles with three delegates / its bound`,
    `at most ${mostBrain} MiB`,
    ({ after }) => ({ subject: [after.brain], baseline: [mostBrain] }),
  ),
  row(
    "daemon-rss-family",
    `brain and sandbox processes together (proportional set size) after ${cycles} cycles / their bound`,
    `at most ${mostFamily} MiB`,
    ({ after }) => ({ subject: [after.family], baseline: [mostFamily] }),
  ),
  row(
    "daemon-rss-growth",
    `RSS of the brain after ${cycles} cycles / after ${settled}`,
    "ratio under 1.05",
    ({ before, after }) => ({ subject: [after.brain], baseline: [before.brain] }),
  ),
  row(
    "daemon-rss-family-growth",
    `proportional set size of brain and sandbox processes after ${cycles} cycles / after ${settled}`,
    "ratio under 1.05",
    ({ before, after }) => ({ subject: [after.family], baseline: [before.family] }),
  ),
];
