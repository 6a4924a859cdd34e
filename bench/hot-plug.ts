// hotplug-attach and hotplug-detach: from the change of a running pod's annotation at a real API server to the end of the plugin that makes or removes
// the interface, against the plugin's own time. multus-dynamic-networks-controller is not compared: Go's module proxy does not have its module.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

import { readSteps } from "../scripts/demo/steps.ts";
import { startAgent } from "../test/lab/agent.ts";
import { startDaemon, type TestDaemon } from "../test/lab/daemon.ts";
import type { ApiServer, CreatedPod } from "../test/lab/kube/api-server.ts";
import { selectNetworks } from "../test/lab/kube/annotate.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../test/lab/namespaces.ts";
import { installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import type { Benchmark, Samples } from "./measure.ts";
import { removeLinks } from "./remove-links.ts";
import { hostConfiguration } from "./host-configuration.ts";

const native = ["bridge", "host-local"];
const warmUp = 5;
const samples = 40;
/** Interval of looks at the trace, in ms: the error of a sample. */
const lookMs = 1;
const maxMs = 10_000;

/** One attachment and its detachment. */
interface Turn {
  /** From the change of the annotation to the end of the plugin. */
  readonly attachMs: number;
  readonly detachMs: number;
  /** The plugin's own time, as the trace has it. */
  readonly addMs: number;
  readonly delMs: number;
}

const bridge = (name: string, subnet: string, dataDir: string): object => ({
  type: "bridge",
  bridge: name,
  ipam: { type: "host-local", ranges: [[{ subnet }]], dataDir },
});

interface Change {
  readonly ms: number;
  /** The plugin's own time. */
  readonly ownMs: number;
}

/** Changes the pod's annotation, and waits for the plugin's end in the trace. */
async function timedChange(
  api: ApiServer,
  pod: CreatedPod,
  trace: string,
  verb: "ADD" | "DEL",
  daemon: TestDaemon,
): Promise<Change> {
  const known = existsSync(trace) ? readSteps(trace).length : 0;
  const size = statSync(trace).size;
  const started = performance.now();
  // The API server's own time is part of the latency: the daemon cannot know of the change before.
  const selected = selectNetworks(api, pod, verb === "ADD" ? "further" : undefined);
  for (;;) {
    const step =
      statSync(trace).size > size
        ? readSteps(trace)
            .slice(known)
            .find((each) => each.verb === verb)
        : undefined;
    if (step !== undefined) {
      const ms = performance.now() - started;
      await selected;
      return { ms, ownMs: step.ms };
    }
    if (performance.now() - started > maxMs) throw new Error(`${verb} did not come: ${daemon.stderr()}`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** Attaches and detaches the further network again and again. */
async function measureTurns(pod: PodNamespace, change: (verb: "ADD" | "DEL") => Promise<Change>): Promise<readonly Turn[]> {
  const turns: Turn[] = [];
  for (let turn = 0; turn < warmUp + samples; turn++) {
    // A pause between changes: the daemon holds back a second comparison of a pod for 250 ms.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const attach = await change("ADD");
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (pod.links().length !== 2) throw new Error("the pod lacks its further link");
    const detach = await change("DEL");
    if (turn >= warmUp) turns.push({ attachMs: attach.ms, addMs: attach.ownMs, detachMs: detach.ms, delMs: detach.ownMs });
  }
  return turns;
}

async function measure(): Promise<readonly Turn[] | string> {
  const lacking = missingBuild() ?? missingPrivateNamespaces() ?? referencePlugins(...native)() ?? kubeApi();
  if (lacking !== undefined) return lacking;
  // Imported here because the official client, which makes the objects, takes longer to load than the other benchmarks.
  const { startApiServer } = await import("../test/lab/kube/api-server.ts");
  const api = await startApiServer();
  const plexus = installPlexus({ native });
  const pod = createPodNamespace("bench");
  const socket = join(plexus.directory, "daemon", "plexus.sock");
  const stateDirectory = plexus.state("lib");
  const leases = plexus.state("leases");
  const trace = join(plexus.directory, "trace");
  const daemon = await startDaemon({
    socket,
    args: ["--state-dir", stateDirectory, "--node-name", "node", "--kubeconfig", api.plexus],
  });
  const env = {
    PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
    CNI_PATH: plexus.cniPath,
    PLEXUS_SOCKET: socket,
  };
  const agent = startAgent({ command: join(plexus.cniPath, "plexus"), env });
  try {
    await api.network("bench", "further", [bridge("benchhot1", "10.97.0.0/16", leases)]);
    const created = await api.pod("bench", "hot");
    const config = hostConfiguration(plexus, "bench", {
      trace,
      kubeconfig: api.plexus,
      hotPlug: true,
      delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [bridge("benchhot0", "10.96.0.0/16", leases)] }],
    });
    const call = {
      containerId: "hot",
      netns: pod.path,
      ifname: "eth0",
      args: created.args,
      config,
      env: { PLEXUS_SOCKET: socket },
    };
    const added = await plexus.call({ verb: "ADD", ...call });
    if (added.status !== 0) throw new Error(added.stdout);
    const turns = await measureTurns(pod, (verb) => timedChange(api, created, trace, verb, daemon));
    await plexus.call({ verb: "DEL", ...call });
    return turns;
  } finally {
    await agent.stop();
    await daemon.stop();
    await api.dispose();
    pod.dispose();
    removeLinks("benchhot0", "benchhot1");
    plexus.dispose();
  }
}

let measured: Promise<readonly Turn[] | string> | undefined;

function row(id: string, action: string, subject: (turn: Turn) => number, baseline: (turn: Turn) => number): Benchmark {
  return {
    id,
    title: `from the change of a running pod's annotation at a real API server to the ${action} interface / the plugin's own time`,
    target: "difference below 100 ms",
    difference: true,
    async sample(): Promise<Samples | string> {
      measured ??= measure();
      const turns = await measured;
      return typeof turns === "string" ? turns : { subject: turns.map(subject), baseline: turns.map(baseline) };
    },
  };
}

/** Both rows come from one run. */
export const hotPlugBenchmarks: readonly Benchmark[] = [
  row(
    "hotplug-attach",
    "working",
    ({ attachMs }) => attachMs,
    ({ addMs }) => addMs,
  ),
  row(
    "hotplug-detach",
    "removed",
    ({ detachMs }) => detachMs,
    ({ delMs }) => delMs,
  ),
];
