// daemon-rss-large: the daemon's memory in a cluster of 60,000 pods and 2,000 definitions, against a small cluster; network-api-rss: with clients of
// the CRI Network API besides. A stand-in API serves the lists and fails if the daemon requests pods of other nodes.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { type Call, type Installation, installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { runAll } from "./lanes.ts";
import { loadNetworkApi, networkLoad } from "./network-api-load.ts";
import { type Benchmark, memoryRows } from "./measure.ts";
import { highestRssMiB, rssMiB, startObservedDaemon } from "./observed-daemon.ts";
import { type StandInApi, type StandInInit, type StandInPod, startStandIn } from "./stand-in-api.ts";
import { hostConfiguration } from "./host-configuration.ts";

const components = ["ipam-host-local"];
/** MiB. */
const maxEngine = 120;

/** The number of ADD/DEL cycles before the measurement, and the number of concurrent calls. */
const cycles = 1_000;
const lanes = 8;

const large = { nodes: 546, podsPerNode: 110, definitions: 2_000 };
const small = { nodes: 1, podsPerNode: 3, definitions: 3 };

/** MiB. */
interface Memory {
  readonly now: number;
  readonly highest: number;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(event: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`no ${event} within 60 s`);
    await wait(100);
  }
}

/** The ADD and DEL of a pod of the node, with the default network and two others, all with WASM IPAM. */
function callsOf(plexus: Installation, socket: string, api: StandInApi, pod: StandInPod, container: string): readonly Call[] {
  const leases = plexus.state("leases");
  const ipam = { type: "ipam-host-local", ipam: { type: "ipam-host-local", subnet: "10.73.0.0/16" } };
  const config = hostConfiguration(plexus, "large", {
    kubeconfig: api.kubeconfig,
    wasm: { grants: { "ipam-host-local": { log: {}, leases: { directories: [leases] }, resolver: {} } } },
    delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [ipam] }],
  });
  const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=${pod.namespace};K8S_POD_NAME=${pod.name};K8S_POD_UID=${pod.uid}`;
  const call = { containerId: container, netns: "/run/netns/none", ifname: "eth0", args, config, env: { PLEXUS_SOCKET: socket } };
  return [
    { verb: "ADD", ...call },
    { verb: "DEL", ...call },
  ];
}

/** Runs an ADD and a DEL, and returns the API requests of the ADD. */
async function attach(plexus: Installation, socket: string, api: StandInApi, node: number): Promise<readonly string[]> {
  const requests: string[] = [];
  for (const call of callsOf(plexus, socket, api, api.pod(node, 1), "first")) {
    const first = api.seen.length;
    const { status, stdout } = await plexus.call(call);
    if (status !== 0) throw new Error(`${call.verb}: ${stdout}`);
    if (call.verb === "ADD") requests.push(...api.seen.slice(first).filter((each) => !each.endsWith("/events")));
  }
  return requests;
}

/** Attaches and detaches pods, several at once. */
async function runCycles(plexus: Installation, socket: string, api: StandInApi, node: number, pods: number): Promise<void> {
  const program = join(plexus.cniPath, "plexus");
  const items = Array.from({ length: cycles }, (_, cycle) =>
    callsOf(plexus, socket, api, api.pod(node, cycle % pods), `cycle-${cycle}`).map((call) => ({
      program,
      stdin: JSON.stringify(call.config),
      env: runtimeEnvironment(call, plexus.cniPath),
    })),
  );
  await runAll("large cluster", lanes, items);
}

/** The daemon's memory. `load`: works with the socket of the CRI Network API, which is served for it, and ends after the measurement. */
async function memoryIn(
  plexus: Installation,
  name: string,
  cluster: Omit<StandInInit, "directory">,
  load?: (networkSocket: string) => Promise<() => void>,
): Promise<Memory> {
  const directory = join(plexus.directory, name);
  mkdirSync(directory);
  const api = await startStandIn({ directory, ...cluster });
  const node = cluster.nodes - 1;
  const networkSocket = join(directory, "network.sock");
  const served = load === undefined ? [] : ["--network-socket", networkSocket, "--state-dir", plexus.state("lib")];
  const args = ["--node-name", api.nodeName(node), "--kubeconfig", api.kubeconfig, ...served];
  let endLoad: (() => void) | undefined;
  const daemon = await startObservedDaemon({ socket: join(directory, "plexus.sock"), args });
  try {
    await until("watches", () => api.watched().size === 2);
    // The daemon answers from its caches: the ADD sends only the status PATCH.
    await until("answer from memory", async () => (await attach(plexus, daemon.socket, api, node)).length === 1);
    const { pods, definitions } = api.sent;
    if (pods !== cluster.podsPerNode || definitions !== cluster.definitions)
      throw new Error(`${pods} pods and ${definitions} definitions were fetched`);
    endLoad = await load?.(networkSocket);
    await runCycles(plexus, daemon.socket, api, node, cluster.podsPerNode);
    for (let round = 0; round < 10; round++) {
      api.change(200);
      await wait(100);
    }
    const measurements: number[] = [];
    for (let look = 0; look < 5; look++) {
      await wait(500);
      measurements.push(rssMiB(daemon.pid));
    }
    return { now: measurements.toSorted((a, b) => a - b)[2] ?? Number.NaN, highest: highestRssMiB(daemon.pid) };
  } finally {
    endLoad?.();
    await daemon.stop();
    await api.dispose();
  }
}

interface Compared {
  readonly large: Memory;
  readonly small: Memory;
}

async function measure(): Promise<Compared | string> {
  const lacking = missingBuild({ components });
  if (lacking !== undefined) return lacking;
  const plexus = installPlexus({ components });
  try {
    return { small: await memoryIn(plexus, "small", small), large: await memoryIn(plexus, "large", large) };
  } finally {
    plexus.dispose();
  }
}

/** The large cluster with clients of the CRI Network API. */
async function measureNetworkApi(): Promise<Memory | string> {
  const lacking = missingBuild({ components });
  if (lacking !== undefined) return lacking;
  const plexus = installPlexus({ components });
  try {
    return await memoryIn(plexus, "networks", large, loadNetworkApi);
  } finally {
    plexus.dispose();
  }
}

const row = memoryRows(measure);
const networkRow = memoryRows(measureNetworkApi);

const crowd = `${(large.nodes * large.podsPerNode).toLocaleString("en")} pods and ${large.definitions.toLocaleString("en")} definitions`;

export const largeClusterBenchmarks: readonly Benchmark[] = [
  row(
    "daemon-rss-large",
    `RSS of the engine after ${cycles} cycles of ADD and DEL with ${crowd} in the API / its bound`,
    `at most ${maxEngine} MiB`,
    (compared) => ({
      subject: [compared.large.now],
      baseline: [maxEngine],
    }),
  ),
  row("daemon-rss-large-peak", `maximum RSS of the engine in the same run / the same bound`, "none of its own", (compared) => ({
    subject: [compared.large.highest],
    baseline: [maxEngine],
  })),
  row(
    "daemon-rss-large-small",
    `RSS of the engine with ${crowd} in the API / with ${small.podsPerNode} of each`,
    "none of its own",
    (compared) => ({ subject: [compared.large.now], baseline: [compared.small.now] }),
  ),
  networkRow(
    "network-api-rss",
    `RSS of the engine with ${crowd} in the API and the CRI Network API: ${networkLoad} / its bound`,
    `at most ${maxEngine} MiB`,
    ({ now }) => ({ subject: [now], baseline: [maxEngine] }),
  ),
];
