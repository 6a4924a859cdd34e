// daemon-del-api-down: a pod's DEL through the daemon while the API server is stopped, against DEL of the native plugins.

import { uidOf } from "../test/lab/manifests.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import { missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { startDaemon } from "../test/lab/daemon.ts";
import { bareContender, bridgePlugin, type BridgeNetwork, type Contender, metaContender } from "./contender.ts";
import { createPodNamespaces, runAll } from "./lanes.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";
import { join } from "node:path";

const native = ["bridge", "host-local"];
const pods = 40;
const warmUp = 5;

function networkOf(name: string, subnet: string): BridgeNetwork {
  return { bridge: `down-${name}`, subnet, ipam: "host-local", name: `down-${name}` };
}

/** Attaches each contender's pods: Plexus has the first half of the namespaces. */
async function attachAll(through: Contender, bare: Contender): Promise<void> {
  const numbers = Array.from({ length: pods }, (_, pod) => pod);
  await runAll(
    "ADD",
    2,
    numbers.map((pod) => through.add(pod)),
  );
  await runAll(
    "bare ADD",
    2,
    numbers.map((pod) => bare.add(pods + pod)),
  );
}

async function measureDel(): Promise<Samples | string> {
  const missingReason = missingBuild() ?? missingPrivateNamespaces() ?? referencePlugins(...native)() ?? kubeApi();
  if (missingReason !== undefined) return missingReason;
  const { startApiServer } = await import("../test/lab/kube/api-server.ts");
  const api = await startApiServer();
  const plexus = installPlexus({ native });
  const namespaces = createPodNamespaces(2 * pods);
  const daemon = await startDaemon({
    socket: join(plexus.directory, "daemon", "plexus.sock"),
    args: ["--node-name", "node", "--kubeconfig", api.plexus],
  });
  const network = networkOf("ours", "10.75.0.0/16");
  const state = [plexus.state("lib"), plexus.runState("run")];
  const args: string[] = [];
  const through = metaContender({
    name: "down",
    plexus,
    pods: namespaces,
    networks: [network],
    program: "plexus",
    config: {
      cniVersion: "1.0.0",
      name: "down-host",
      type: "plexus",
      cniDir: state[0],
      runDir: state[1],
      kubeconfig: api.plexus,
      delegates: [{ cniVersion: "1.0.0", name: network.name, plugins: [bridgePlugin(network)] }],
    },
    args: (pod) => args[pod] ?? `K8S_POD_UID=${uidOf("none")}`,
    env: { PLEXUS_SOCKET: daemon.socket },
    state,
  });
  const bare = bareContender({
    name: "bare",
    plexus,
    pods: namespaces,
    networks: [networkOf("bare", "10.76.0.0/16")],
  });
  try {
    for (let pod = 0; pod < pods; pod++) args.push((await api.pod("shop", `down-${pod}`)).args);
    await attachAll(through, bare);
    await api.stop();
    let [barePod, plexusPod] = [pods, 0];
    const taken = await inTurns({
      subject: async () => (await runAll("DEL", 1, [through.del(plexusPod++)])).calls[0]?.ms ?? Number.NaN,
      baseline: async () => (await runAll("bare DEL", 1, [bare.del(barePod++)])).calls[0]?.ms ?? Number.NaN,
      warmUp,
      samples: pods - warmUp,
    });
    const left = [...through.left(), ...bare.left()];
    if (left.length > 0) throw new Error(`left behind: ${left.slice(0, 5).join(", ")}`);
    return taken;
  } finally {
    await daemon.stop();
    namespaces.dispose();
    through.dispose();
    bare.dispose();
    plexus.dispose();
    await api.dispose();
  }
}

export const apiDownBenchmark: Benchmark = {
  id: "daemon-del-api-down",
  title: "DEL through plexus and its daemon with the API server stopped / DEL of native bridge + host-local called directly",
  target: "at most 10 ms above",
  sample: measureDel,
};
