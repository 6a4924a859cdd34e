// daemon-c32: 500 pods, 32 calls at once, through plexus and its daemon, against the native plugins at the same concurrency.
// The pods have only their default network and there is no cluster, so that no API server takes CPU time.

import { join } from "node:path";

import { missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { bareContender, bridgePlugin, type BridgeNetwork, type Contender, metaContender } from "./contender.ts";
import { createPodNamespaces, type PodNamespaces, runAll } from "./lanes.ts";
import type { Benchmark, Samples } from "./measure.ts";
import { familyCpuMs, startObservedDaemon } from "./observed-daemon.ts";

export const lanes = 32;
const pods = Number(process.env["PLEXUS_BENCH_PODS"] ?? 500);
const rounds = Number(process.env["PLEXUS_BENCH_ROUNDS"] ?? 5);
/** The number of calls that the daemon serves at once; without the variable the daemon's default. */
const calls = process.env["PLEXUS_BENCH_CALLS"];

/** Pods per second of ADD, of DEL and of both together; and the CPU time of an ADD, user and system, in ms. */
export interface Throughput {
  readonly add: number;
  readonly del: number;
  readonly both: number;
  readonly addCpu: number;
}

export interface CrowdRun {
  readonly contender: Contender;
  readonly namespaces: PodNamespaces;
  /** Networks of a pod. */
  readonly networks: number;
  /** The pid of the daemon, whose CPU time counts too. */
  readonly daemon?: number;
}

/** Attaches and detaches all pods. Throws if a call fails, a pod lacks a link or its own address, or anything remains. */
export async function attachAndDetachAll({ contender, namespaces, networks, daemon }: CrowdRun): Promise<Throughput> {
  const { name } = contender;
  const daemonCpu = (): number => (daemon === undefined ? 0 : familyCpuMs(daemon));
  const before = daemonCpu();
  const numbers = Array.from({ length: namespaces.count }, (_, pod) => pod);
  const added = await runAll(
    `${name} ADD`,
    lanes,
    numbers.map((pod) => contender.add(pod)),
  );
  const addCpu = (daemonCpu() - before + sumOf(added.calls.map(({ cpuMs }) => cpuMs))) / namespaces.count;
  const links = namespaces.links();
  const addresses = new Set(links.map(({ name: link, address }) => `${link === "eth0" ? "" : link} ${address ?? "none"}`));
  const expected = namespaces.count * networks;
  if (links.length !== expected || (networks === 1 && addresses.size !== expected))
    throw new Error(`${name}: ${namespaces.count} pods have ${links.length} links with ${addresses.size} different addresses`);
  const deleted = await runAll(
    `${name} DEL`,
    lanes,
    numbers.map((pod) => contender.del(pod)),
  );
  const left = contender.left();
  if (left.length > 0)
    throw new Error(`${name} left ${left.length} leases, links or files behind: ${left.slice(0, 5).join(", ")}`);
  const rate = (ms: number): number => (namespaces.count / ms) * 1000;
  return { add: rate(added.ms), del: rate(deleted.ms), both: rate(added.ms + deleted.ms), addCpu };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

interface Crowded {
  readonly bare: readonly Throughput[];
  readonly native: readonly Throughput[];
  readonly wasm: readonly Throughput[];
  /** The event loop's p99 delay in each round with the native chain, and in each with the WASM one, in ms. */
  readonly loop: readonly number[];
}

async function measureCrowd(): Promise<Crowded | string> {
  const components = ["ipam-host-local"];
  const native = ["bridge", "host-local"];
  const missingReason = missingBuild({ components }) ?? missingPrivateNamespaces() ?? referencePlugins(...native)();
  if (missingReason !== undefined) return missingReason;
  const plexus = installPlexus({ native, components });
  const namespaces = createPodNamespaces(pods);
  const daemon = await startObservedDaemon({
    socket: join(plexus.directory, "daemon", "plexus.sock"),
    args: calls === undefined ? [] : ["--calls", calls],
  });
  const through = (name: string, subnet: string, ipam: BridgeNetwork["ipam"]): Contender => {
    const network: BridgeNetwork = { bridge: `c32-${name}`, subnet, ipam, name: `c32-${name}` };
    const [cniDir, runDir] = [plexus.state(`${name}-lib`), plexus.runState(`${name}-run`)];
    const config = {
      cniVersion: "1.0.0",
      name: `c32-${name}-host`,
      type: "plexus",
      cniDir,
      runDir,
      delegates: [{ cniVersion: "1.0.0", name: network.name, plugins: [bridgePlugin(network)] }],
    };
    const env = { PLEXUS_SOCKET: daemon.socket };
    const state = [cniDir, runDir];
    return metaContender({ name, plexus, pods: namespaces, networks: [network], program: "plexus", config, env, state });
  };
  const bareNetwork: BridgeNetwork = { bridge: "c32-bare", subnet: "10.70.0.0/16", ipam: "host-local", name: "c32-bare" };
  const contenders = {
    bare: bareContender({ name: "bare", plexus, pods: namespaces, networks: [bareNetwork] }),
    native: through("native", "10.71.0.0/16", "host-local"),
    wasm: through("wasm", "10.72.0.0/16", "ipam-host-local"),
  };
  const names = ["bare", "native", "wasm"] as const;
  const taken: Record<(typeof names)[number], Throughput[]> = { bare: [], native: [], wasm: [] };
  const loop: number[] = [];
  try {
    // The first pod's ADD makes the bridge.
    for (const name of names) {
      await runAll(name, 1, [[...contenders[name].add(0), ...contenders[name].del(0)]]);
    }
    for (let round = 0; round < rounds; round++) {
      const first = round % names.length;
      for (const name of [...names.slice(first), ...names.slice(0, first)]) {
        if (name !== "bare") await daemon.delays();
        taken[name].push(
          await attachAndDetachAll({
            contender: contenders[name],
            namespaces,
            networks: 1,
            ...(name === "bare" ? {} : { daemon: daemon.pid }),
          }),
        );
        if (name !== "bare") loop.push((await daemon.delays()).p99);
      }
    }
    return { ...taken, loop };
  } finally {
    await daemon.stop();
    namespaces.dispose();
    for (const contender of Object.values(contenders)) contender.dispose();
    plexus.dispose();
  }
}

let measured: Promise<Crowded | string> | undefined;

async function crowd(rows: (taken: Crowded) => Samples): Promise<Samples | string> {
  measured ??= measureCrowd();
  const taken = await measured;
  return typeof taken === "string" ? taken : rows(taken);
}

function row(id: string, chain: "native" | "wasm", phase: "add" | "del" | "both", target: string): Benchmark {
  const verbs = { add: "ADD", del: "DEL", both: "ADD and DEL" }[phase];
  const ipam = chain === "native" ? "host-local" : "WASM ipam-host-local";
  return {
    id,
    title: `${verbs} of ${pods} pods, ${lanes} at once, bridge + ${ipam} through plexus and its daemon / native bridge + host-local called directly`,
    target,
    unit: "pods/s",
    sample: () =>
      crowd((taken) => ({
        subject: taken[chain].map((each) => each[phase]),
        baseline: taken.bare.map((each) => each[phase]),
        inRounds: true,
      })),
  };
}

export const crowdedBenchmarks: readonly Benchmark[] = [
  row("daemon-c32", "native", "both", "ratio ≥ 0.9"),
  row("daemon-c32-add", "native", "add", "none of its own"),
  row("daemon-c32-del", "native", "del", "none of its own"),
  row("daemon-c32-wasm-ipam", "wasm", "both", "ratio > 1"),
  row("daemon-c32-wasm-ipam-add", "wasm", "add", "none of its own"),
  row("daemon-c32-wasm-ipam-del", "wasm", "del", "none of its own"),
  {
    id: "daemon-c32-loop",
    title: `p99 delay of the daemon's event loop in each round of daemon-c32 / its bound`,
    target: "under 50 ms",
    sample: () => crowd(({ loop }) => ({ subject: loop, baseline: loop.map(() => 50) })),
  },
];
