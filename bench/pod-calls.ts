// ADD and DEL of a pod through the installed plexus. The baseline is the sum of direct calls of native bridge + host-local for
// the same networks, as a runtime without Plexus would call them. Pods and definitions come from a directory of manifests, so
// that no API server's time is included.

import { join } from "node:path";

import { manifestsIn, uidOf } from "../test/lab/manifests.ts";
import { createPodNamespace, missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { type Call, installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { inTurns, type Samples } from "./measure.ts";
import { startStopwatch } from "./stopwatch.ts";
import { removeLinks } from "./remove-links.ts";
import { hostConfiguration } from "./host-configuration.ts";

const native = ["bridge", "host-local"];

/** Milliseconds of a pod's ADD and DEL. */
export interface PodTime {
  readonly add: number;
  readonly del: number;
}

/** The plugin of network `n`; `prefix` separates Plexus' bridges and subnets from those of the direct calls. */
function bridge(prefix: "p" | "d", n: number): Readonly<Record<string, unknown>> {
  const subnet = `10.${(prefix === "p" ? 80 : 90) + n}.0.0/16`;
  return { type: "bridge", bridge: `${prefix}bench${n}`, isDefaultGateway: n === 0, ipam: { type: "host-local", subnet } };
}

/** Measures a pod's ADD and DEL through the installed plexus and through direct calls of the plugins. */
export async function measurePod(secondaries: number): Promise<Samples<PodTime> | string> {
  const lacking = missingBuild() ?? missingPrivateNamespaces() ?? referencePlugins(...native)();
  if (lacking !== undefined) return lacking;
  const plexus = installPlexus({ native });
  const manifests = manifestsIn(join(plexus.directory, "manifests"));
  const stopwatch = startStopwatch();
  const pods = [createPodNamespace("bench"), createPodNamespace("bench")] as const;
  const [plexusPod, directPod] = pods;
  const selected = Array.from({ length: secondaries }, (_, index) => index + 1);
  const networks = [0, ...selected];
  for (const n of selected) manifests.network(`net${n}`, [bridge("p", n)]);
  manifests.pod("bench", selected.map((n) => `net${n}`).join(","));
  const config = hostConfiguration(plexus, "bench", {
    manifests: manifests.directory,
    delegates: [{ cniVersion: "1.0.0", name: "bench-pods", plugins: [bridge("p", 0)] }],
  });
  const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=bench;K8S_POD_UID=${uidOf("bench")}`;
  let containers = 0;
  const run = (type: string, call: Call): Promise<{ readonly stdout: string; readonly ms: number }> => {
    const env = runtimeEnvironment(call, plexus.cniPath);
    return stopwatch.run({ argv: [join(plexus.cniPath, type)], env, stdin: JSON.stringify(call.config) });
  };
  try {
    return await inTurns<PodTime>({
      subject: async () => {
        const call = { containerId: `plexus-${containers++}`, netns: plexusPod.path, ifname: "eth0", args, config };
        const added = await run("plexus", { verb: "ADD", ...call });
        if (plexusPod.links().length !== networks.length) throw new Error(`the pod lacks a link: ${added.stdout}`);
        const deleted = await run("plexus", { verb: "DEL", ...call });
        return { add: added.ms, del: deleted.ms };
      },
      baseline: async () => {
        const containerId = `direct-${containers++}`;
        const calls = networks.map((n) => ({
          containerId,
          netns: directPod.path,
          ifname: n === 0 ? "eth0" : `net${n}`,
          config: { cniVersion: "1.0.0", name: `bench-direct${n}`, ...bridge("d", n) },
        }));
        let [add, del] = [0, 0];
        const results: unknown[] = [];
        for (const call of calls) {
          const { ms, stdout } = await run("bridge", { verb: "ADD", ...call });
          add += ms;
          results.push(JSON.parse(stdout));
        }
        for (const [index, call] of [...calls.entries()].toReversed()) {
          const { ms } = await run("bridge", { verb: "DEL", ...call, config: { ...call.config, prevResult: results[index] } });
          del += ms;
        }
        return { add, del };
      },
      warmUp: 3,
      samples: 30,
    });
  } finally {
    for (const pod of pods) pod.dispose();
    removeLinks(...networks.flatMap((n) => [`pbench${n}`, `dbench${n}`]));
    await stopwatch.dispose();
    plexus.dispose();
  }
}
