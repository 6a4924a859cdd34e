// A pod's ADD and DEL through a daemon with a real API server, against the least work that they need. The baseline is native
// bridge + host-local for the same networks, and one PATCH of the pod's status. The PATCH uses an open connection of the
// daemon's HTTP client.

import { join } from "node:path";

import { Connection } from "../host/cluster/kube/connection.ts";
import { kubeconfigCredentials } from "../host/cluster/kube/credentials.ts";
import { startDaemon } from "../test/lab/daemon.ts";
import type { ApiServer } from "../test/lab/kube/api-server.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../test/lab/namespaces.ts";
import { type Call, type Installation, installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { type BridgeNetwork, bridgePlugin } from "./contender.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";
import { startStopwatch, type Stopwatch } from "./stopwatch.ts";
import { systemClock } from "../host/system/clock.ts";
import { removeLinks } from "./remove-links.ts";
import { hostConfiguration } from "./host-configuration.ts";

const native = ["bridge", "host-local"];
const namespace = "shop";

/** Milliseconds of a pod's ADD and DEL. */
interface PodTime {
  readonly add: number;
  readonly del: number;
}

type Ipam = BridgeNetwork["ipam"];

interface Comparison {
  readonly secondaries: number;
  /** The IPAM plugin of the subject. */
  readonly ipam: Ipam;
  /** The baseline: direct calls of the plugins, or Plexus with native plugins. */
  readonly with: "plugins" | "plexus";
}

interface Bench {
  readonly stopwatch: Stopwatch;
  readonly api: ApiServer;
  readonly socket: string;
}

/** Attaches and detaches a pod in each turn. */
interface Side {
  readonly turn: () => Promise<PodTime>;
  readonly dispose: () => void;
}

function networksOf(prefix: string, subnets: number, { secondaries }: Comparison, ipam: Ipam): readonly BridgeNetwork[] {
  return Array.from({ length: secondaries + 1 }, (_, index) => ({
    name: `${prefix}${index}`,
    bridge: `${prefix}bench${index}`,
    subnet: `10.${subnets + index}.0.0/16`,
    ipam,
    isDefault: index === 0,
  }));
}

function timedCall(stopwatch: Stopwatch, plexus: Installation, type: string, call: Call) {
  const env = runtimeEnvironment(call, plexus.cniPath);
  return stopwatch.run({ argv: [join(plexus.cniPath, type)], env, stdin: JSON.stringify(call.config) });
}

function removeAll(pod: PodNamespace, networks: readonly BridgeNetwork[], plexus: Installation): void {
  pod.dispose();
  removeLinks(...networks.map(({ bridge }) => bridge));
  plexus.dispose();
}

/** Calls Plexus, whose daemon writes the pod's status to the API. */
async function plexusSide({ stopwatch, api, socket }: Bench, networks: readonly BridgeNetwork[]): Promise<Side> {
  const [main, ...selected] = networks;
  if (main === undefined) throw new Error("a pod has a default network");
  const plexus = installPlexus({ native, components: main.ipam === "host-local" ? [] : [main.ipam] });
  const pod = createPodNamespace("bench");
  for (const network of selected) await api.network(namespace, network.name, [bridgePlugin(network)]);
  const { args } = await api.pod(namespace, main.name, selected.map(({ name }) => name).join(",") || undefined);
  const config = hostConfiguration(plexus, main.name, {
    kubeconfig: api.plexus,
    delegates: [{ cniVersion: "1.0.0", name: `${main.name}-pods`, plugins: [bridgePlugin(main)] }],
  });
  let containers = 0;
  return {
    async turn() {
      const call = { containerId: `c${containers++}`, netns: pod.path, ifname: "eth0", args, config };
      const env = { PLEXUS_SOCKET: socket };
      const added = await timedCall(stopwatch, plexus, "plexus", { verb: "ADD", ...call, env });
      if (pod.links().length !== networks.length) throw new Error(`the pod lacks a link: ${added.stdout}`);
      const deleted = await timedCall(stopwatch, plexus, "plexus", { verb: "DEL", ...call, env });
      return { add: added.ms, del: deleted.ms };
    },
    dispose: () => removeAll(pod, networks, plexus),
  };
}

/** Calls the plugins directly, and patches the pod's status after the ADD. */
async function directSide({ stopwatch, api }: Bench, networks: readonly BridgeNetwork[]): Promise<Side> {
  const plexus = installPlexus({ native });
  const pod = createPodNamespace("bench");
  const name = `${networks[0]?.name}-direct`;
  const { uid } = await api.pod(namespace, name);
  const connection = new Connection(systemClock);
  const credentials = await kubeconfigCredentials(api.plexus)();
  if (!credentials.ok) throw new Error(credentials.fault.msg);
  const publish = async (status: string): Promise<number> => {
    const annotations = { "k8s.v1.cni.cncf.io/network-status": status };
    const started = performance.now();
    const outcome = await connection.request(
      credentials.value,
      {
        method: "PATCH",
        path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
        contentType: "application/merge-patch+json",
        body: JSON.stringify({ metadata: { uid, annotations } }),
        metadataOnly: true,
      },
      10_000,
    );
    if (outcome.kind !== "answer" || outcome.status !== 200) throw new Error(`PATCH: ${JSON.stringify(outcome).slice(0, 500)}`);
    return performance.now() - started;
  };
  let containers = 0;
  return {
    async turn() {
      const containerId = `c${containers++}`;
      const calls = networks.map((network, index) => ({
        containerId,
        netns: pod.path,
        ifname: index === 0 ? "eth0" : `net${index}`,
        config: { cniVersion: "1.0.0", name: network.name, ...bridgePlugin(network) },
      }));
      let [add, del] = [0, 0];
      const results: unknown[] = [];
      for (const call of calls) {
        const { ms, stdout } = await timedCall(stopwatch, plexus, "bridge", { verb: "ADD", ...call });
        add += ms;
        results.push(JSON.parse(stdout));
      }
      // As long as the status that Plexus writes; its addresses change with every turn.
      add += await publish(JSON.stringify(results));
      for (const [index, call] of [...calls.entries()].toReversed()) {
        const config = { ...call.config, prevResult: results[index] };
        del += (await timedCall(stopwatch, plexus, "bridge", { verb: "DEL", ...call, config })).ms;
      }
      return { add, del };
    },
    dispose() {
      connection.close();
      removeAll(pod, networks, plexus);
    },
  };
}

async function measure(comparison: Comparison): Promise<Samples<PodTime> | string> {
  const components = comparison.ipam === "host-local" ? [] : [comparison.ipam];
  const missingReason = missingBuild({ components }) ?? missingPrivateNamespaces() ?? referencePlugins(...native)() ?? kubeApi();
  if (missingReason !== undefined) return missingReason;
  // Imported here because the official client, which makes the objects, takes longer to load than the other benchmarks.
  const { startApiServer } = await import("../test/lab/kube/api-server.ts");
  const api = await startApiServer();
  const stopwatch = startStopwatch();
  const sides: Side[] = [];
  const daemon = await startDaemon({
    socket: join(api.directory, "daemon", "plexus.sock"),
    args: ["--node-name", "node", "--kubeconfig", api.plexus],
  });
  try {
    const bench = { stopwatch, api, socket: daemon.socket };
    const subject = await plexusSide(bench, networksOf("p", 80, comparison, comparison.ipam));
    sides.push(subject);
    const others = networksOf("d", 90, comparison, "host-local");
    const baseline = comparison.with === "plugins" ? await directSide(bench, others) : await plexusSide(bench, others);
    sides.push(baseline);
    return await inTurns<PodTime>({ subject: subject.turn, baseline: baseline.turn, warmUp: 20, samples: 100 });
  } finally {
    for (const { dispose } of sides) dispose();
    await stopwatch.dispose();
    await daemon.stop();
    await api.dispose();
  }
}

/** The rows of ADD and DEL, which one run measures. */
function rowsOf(id: string, comparison: Comparison, target: string): readonly Benchmark[] {
  const { secondaries, ipam } = comparison;
  let measured: Promise<Samples<PodTime> | string> | undefined;
  const direct = "native bridge + host-local called directly, as their sum";
  const row = (name: string, verb: "ADD" | "DEL", of: (time: PodTime) => number, rowTarget: string): Benchmark => {
    const plugins = verb === "ADD" ? `${direct}, and one direct PATCH of the status` : direct;
    const other = comparison.with === "plugins" ? plugins : "the same with native host-local";
    return {
      id: name,
      title: `${verb} of a pod with ${secondaries} secondaries, bridge + ${ipam}, through plexus, its daemon and a real API server / ${other}`,
      target: rowTarget,
      difference: true,
      async sample() {
        measured ??= measure(comparison);
        const samples = await measured;
        if (typeof samples === "string") return samples;
        return { subject: samples.subject.map(of), baseline: samples.baseline.map(of) };
      },
    };
  };
  return [row(id, "ADD", ({ add }) => add, target), row(`${id}-del`, "DEL", ({ del }) => del, "none yet")];
}

/** `daemon-native-pod0`, `-pod3`, `daemon-wasm-ipam-pod0`: the daemon's own cost. */
export const daemonPodBenchmarks: readonly Benchmark[] = [
  ...rowsOf(
    "daemon-native-pod0",
    { secondaries: 0, ipam: "host-local", with: "plugins" },
    "median at most 2.5 ms above, p95 at most 6 ms above",
  ),
  ...rowsOf("daemon-native-pod3", { secondaries: 3, ipam: "host-local", with: "plugins" }, "median at most 5 ms above"),
  ...rowsOf("daemon-wasm-ipam-pod0", { secondaries: 0, ipam: "ipam-host-local", with: "plexus" }, "ratio under 1"),
];
