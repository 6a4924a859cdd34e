// daemon-status: the duration of STATUS, with no other calls and with 32 concurrent ADDs and DELs.

import { join } from "node:path";

import { missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { startDaemon } from "../test/lab/daemon.ts";
import { bridgePlugin, type BridgeNetwork, metaContender } from "./contender.ts";
import { lanes } from "./crowded.ts";
import { createPodNamespaces, type LaneCall, runAll } from "./lanes.ts";
import { type Benchmark, quantile, type Samples } from "./measure.ts";

const native = ["bridge", "host-local"];
const idleCalls = 500;
/** ADD and DEL of each pod repeat until enough STATUS calls have ended. */
const pods = 64;
const statusesUnderLoad = 200;
const bounds = { idle: 50, loaded: 200 };

interface Statuses {
  /** Milliseconds of each call. */
  readonly idle: readonly number[];
  readonly loaded: readonly number[];
}

async function measureStatus(): Promise<Statuses | string> {
  const lacking = missingBuild() ?? missingPrivateNamespaces() ?? referencePlugins(...native)();
  if (lacking !== undefined) return lacking;
  const plexus = installPlexus({ native });
  const namespaces = createPodNamespaces(pods);
  const daemon = await startDaemon({ socket: join(plexus.directory, "daemon", "plexus.sock") });
  const env = { PLEXUS_SOCKET: daemon.socket };
  const network: BridgeNetwork = { bridge: "status0", subnet: "10.74.0.0/16", ipam: "host-local", name: "status-pods" };
  const state = [plexus.state("lib"), plexus.runState("run")];
  const config = {
    cniVersion: "1.1.0",
    name: "status-host",
    type: "plexus",
    cniDir: state[0],
    runDir: state[1],
    delegates: [{ cniVersion: "1.0.0", name: network.name, plugins: [bridgePlugin(network)] }],
  };
  const program = join(plexus.cniPath, "plexus");
  const contender = metaContender({
    name: "status",
    plexus,
    pods: namespaces,
    networks: [network],
    program: "plexus",
    config,
    env,
    state,
  });
  const status: LaneCall = {
    program,
    env: runtimeEnvironment({ verb: "STATUS", env }, plexus.cniPath),
    stdin: JSON.stringify(config),
  };
  const ask = async (times: number): Promise<readonly number[]> =>
    (await runAll("STATUS", 1, [Array.from({ length: times }, () => status)])).calls.map(({ ms }) => ms);
  try {
    await ask(50);
    const idle = await ask(idleCalls);
    const loading = new AbortController();
    const load = (async () => {
      while (!loading.signal.aborted) {
        const items = Array.from({ length: pods }, (_, pod) => [...contender.add(pod), ...contender.del(pod)]);
        await runAll("ADD and DEL", lanes, items);
      }
    })();
    try {
      const loaded = await Promise.race([ask(statusesUnderLoad), load.then(() => [])]);
      return { idle, loaded };
    } finally {
      loading.abort();
      await load;
    }
  } finally {
    await daemon.stop();
    namespaces.dispose();
    contender.dispose();
    plexus.dispose();
  }
}

let measured: Promise<Statuses | string> | undefined;

function row(id: string, when: keyof Statuses, what: string): Benchmark {
  return {
    id,
    title: `99th percentile of STATUS through plexus and its daemon, ${what} / its bound`,
    target: `p99 under ${bounds[when]} ms`,
    async sample(): Promise<Samples | string> {
      measured ??= measureStatus();
      const taken = await measured;
      if (typeof taken === "string") return taken;
      return { subject: [quantile(taken[when], 0.99)], baseline: [bounds[when]] };
    },
  };
}

export const statusBenchmarks: readonly Benchmark[] = [
  row("daemon-status", "idle", `${idleCalls} calls with no other calls`),
  row("daemon-status-loaded", "loaded", `${statusesUnderLoad} calls during ${lanes} concurrent ADDs and DELs`),
];
