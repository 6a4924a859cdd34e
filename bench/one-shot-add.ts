// one-shot-add: the demo's chain through the installed plexus with a one-shot engine. The baseline is the sum of direct calls
// of native plugins one after the other, as a runtime without Plexus would call them.

import { join } from "node:path";

import { createPodNamespace, missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { type Call, installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";
import { startStopwatch, type Stopwatch } from "./stopwatch.ts";
import { removeLinks } from "./remove-links.ts";

const native = ["bridge", "host-local", "tuning"];
const components = ["ipam-host-local", "status-shaper"];

function bridge(name: string, ipam: string, subnet: string): Readonly<Record<string, unknown>> {
  return { type: "bridge", bridge: name, isDefaultGateway: true, ipam: { type: ipam, subnet } };
}

const shaping = { type: "status-shaper", dns: { nameservers: ["10.68.0.1"] } };
const tuning = { type: "tuning", mtu: 1400 };

/** A plugin's configuration as libcni passes it. */
function direct(plugin: object): Readonly<Record<string, unknown>> {
  return { cniVersion: "1.0.0", name: "bench-direct", ...plugin };
}

/** Runs a plugin once as a runtime does. Returns its stdout and its duration in ms. */
function runPlugin(
  stopwatch: Stopwatch,
  binary: string,
  call: Call,
  cniPath: string,
): Promise<{ readonly stdout: string; readonly ms: number }> {
  return stopwatch.run({ argv: [binary], env: runtimeEnvironment(call, cniPath), stdin: JSON.stringify(call.config) });
}

const title = "ADD of bridge + WASM IPAM, WASM status-shaper, tuning through plexus, %s / native bridge + host-local, tuning";

function oneShotAddOf(id: string, isolation: "in-process" | "process", where: string): Benchmark {
  return {
    id,
    title: title.replace("%s", where),
    target: "none yet: most of the time is the one-shot engine's start",
    sample: () => sampleOf(isolation),
  };
}

/** `one-shot-add` and `one-shot-add-process`: delegates in the engine's process, and in sandbox processes (the default). */
export const oneShotAdds: readonly Benchmark[] = [
  oneShotAddOf("one-shot-add", "in-process", "delegates in the engine's process"),
  oneShotAddOf("one-shot-add-process", "process", "delegates in sandbox processes"),
];

async function sampleOf(isolation: "in-process" | "process"): Promise<Samples | string> {
  const lacking = missingBuild({ components }) ?? missingPrivateNamespaces() ?? referencePlugins(...native)();
  if (lacking !== undefined) return lacking;
  const plexus = installPlexus({ native, components });
  const stopwatch = startStopwatch();
  const pods = [createPodNamespace("bench"), createPodNamespace("bench")] as const;
  const [plexusPod, directPod] = pods;
  let containers = 0;
  const config = {
    cniVersion: "1.0.0",
    name: "bench",
    type: "plexus",
    cniDir: plexus.state("lib"),
    runDir: plexus.runState("run"),
    wasm: { isolation },
    delegates: [
      {
        cniVersion: "1.0.0",
        name: "bench-plexus",
        plugins: [bridge("bench0", "ipam-host-local", "10.68.0.0/16"), shaping, tuning],
      },
    ],
  };
  const first = direct(bridge("bench1", "host-local", "10.69.0.0/16"));
  const step = (type: string, call: Call): Promise<{ readonly stdout: string; readonly ms: number }> =>
    runPlugin(stopwatch, join(plexus.cniPath, type), call, plexus.cniPath);
  try {
    return await inTurns({
      subject: async () => {
        const call = { verb: "ADD", containerId: `plexus-${containers++}`, netns: plexusPod.path, ifname: "eth0", config };
        const { ms, stdout } = await step("plexus", call);
        if (!stdout.includes("10.68.")) throw new Error(`no address: ${stdout}`);
        await step("plexus", { ...call, verb: "DEL" });
        return ms;
      },
      baseline: async () => {
        const attachment = { containerId: `direct-${containers++}`, netns: directPod.path, ifname: "eth0" };
        const bridged = await step("bridge", { verb: "ADD", ...attachment, config: first });
        const prevResult: unknown = JSON.parse(bridged.stdout);
        const second = { ...direct(tuning), prevResult };
        const tuned = await step("tuning", { verb: "ADD", ...attachment, config: second });
        await step("tuning", { verb: "DEL", ...attachment, config: second });
        await step("bridge", { verb: "DEL", ...attachment, config: { ...first, prevResult } });
        return bridged.ms + tuned.ms;
      },
      warmUp: 3,
      samples: 30,
    });
  } finally {
    for (const pod of pods) pod.dispose();
    removeLinks("bench0", "bench1");
    await stopwatch.dispose();
    plexus.dispose();
  }
}
