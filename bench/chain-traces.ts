// trace-off and trace-on: a pod's ADD through a daemon whose configuration has `chainTrace`, against the same ADD without the key.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { startDaemon } from "../test/lab/daemon.ts";
import { createPodNamespace, missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";
import { startStopwatch } from "./stopwatch.ts";
import { removeLinks } from "./remove-links.ts";

const native = ["bridge"];
const components = ["ipam-host-local", "status-shaper"];

/** `pods` chooses other pods, so the daemon only decides that the call has no trace. */
const off = { calls: "all", pods: ["other/*"] };
const on = { calls: "all" };

/** `trace-off`: a call that is not recorded. `trace-on`: a recorded one; its trace is written after the answer. */
export const chainTraceBenchmarks: readonly Benchmark[] = [
  {
    id: "trace-off",
    title: "ADD of bridge + WASM IPAM and WASM status-shaper with chainTrace for other pods / without the key",
    target: "below 1.01",
    sample: () => sampleOf(off),
  },
  {
    id: "trace-on",
    title: "ADD of bridge + WASM IPAM and WASM status-shaper with a chain trace / without",
    target: "none: an administrator chooses the calls",
    sample: () => sampleOf(on),
  },
];

async function sampleOf(chainTrace: object): Promise<Samples | string> {
  const lacking = missingBuild({ components }) ?? missingPrivateNamespaces() ?? referencePlugins(...native)();
  if (lacking !== undefined) return lacking;
  const plexus = installPlexus({ native, components });
  const directory = join(plexus.directory, "daemon");
  mkdirSync(directory);
  const socket = join(directory, "plexus.sock");
  const daemon = await startDaemon({ socket });
  const stopwatch = startStopwatch();
  const pod = createPodNamespace("bench");
  const plugins = [
    { type: "bridge", bridge: "benchtrace0", isDefaultGateway: true, ipam: { type: "ipam-host-local", subnet: "10.67.0.0/16" } },
    { type: "status-shaper", dns: { nameservers: ["10.67.0.1"] } },
  ];
  const config = {
    cniVersion: "1.0.0",
    name: "bench",
    type: "plexus",
    cniDir: plexus.state("lib"),
    runDir: plexus.runState("run"),
    delegates: [{ cniVersion: "1.0.0", name: "bench-trace", plugins }],
  };
  let containers = 0;
  const call = (verb: string, containerId: string, stdin: object) => {
    const request = { verb, containerId, netns: pod.path, ifname: "eth0", env: { PLEXUS_SOCKET: socket } };
    const env = runtimeEnvironment(request, plexus.cniPath);
    return stopwatch.run({ argv: [join(plexus.cniPath, "plexus")], env, stdin: JSON.stringify(stdin) });
  };
  const turn = async (stdin: object): Promise<number> => {
    const containerId = `c${containers++}`;
    const { ms, stdout } = await call("ADD", containerId, stdin);
    if (!stdout.includes("10.67.")) throw new Error(`no address: ${stdout}`);
    await call("DEL", containerId, stdin);
    return ms;
  };
  try {
    return await inTurns({
      subject: () => turn({ ...config, chainTrace }),
      baseline: () => turn(config),
      warmUp: 5,
      samples: 60,
    });
  } finally {
    pod.dispose();
    removeLinks("benchtrace0");
    await stopwatch.dispose();
    await daemon.stop();
    plexus.dispose();
  }
}
