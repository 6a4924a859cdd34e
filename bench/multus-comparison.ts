// Compares Plexus with its daemon, thin Multus and thick Multus (shim and daemon) with the same machine, API server,
// definitions and chain. Direct calls of the plugins are the baseline of all of them.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";

import { everyMultus, multusBinary, multusRelease } from "../test/lab/multus/multus-binary.ts";
import { startDaemon } from "../test/lab/daemon.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import type { CreatedPod } from "../test/lab/kube/api-server.ts";
import { missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { installRecorder } from "../test/lab/recorder.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { bareContender, bridgePlugin, type BridgeNetwork, type Contender, metaContender } from "./contender.ts";
import { attachAndDetachAll, type CrowdRun, lanes, type Throughput } from "./crowded.ts";
import { createPodNamespaces, type PodNamespaces, runAll, runLanes } from "./lanes.ts";
import { ContenderFailures } from "./failures.ts";
import { familyPssMiB, highestRssMiB } from "./observed-daemon.ts";
import { inRotation, type PodTimes } from "./rotation.ts";

const native = ["bridge", "host-local"];
const names = ["plexus", "thin", "thick", "bare"] as const;
type Name = (typeof names)[number];
export type Meta = Exclude<Name, "bare">;

export const secondaries = [0, 1, 3] as const;
const warmUp = 10;
const turns = 20;
export const crowdPods = Number(process.env["PLEXUS_BENCH_MULTUS_PODS"] ?? 200);
export const crowdRounds = Number(process.env["PLEXUS_BENCH_MULTUS_ROUNDS"] ?? 2);

/** The contenders' names in titles. */
export const whats: Readonly<Record<Name, string>> = {
  plexus: "plexus and its daemon",
  thin: `thin Multus ${multusRelease}`,
  thick: `thick Multus ${multusRelease}, shim and daemon`,
  bare: "the plugins called directly",
};

type ByName<T> = Readonly<Record<Name, T>>;

function byName<T>(make: (name: Name) => T): ByName<T> {
  return { plexus: make("plexus"), thin: make("thin"), thick: make("thick"), bare: make("bare") };
}

export interface Comparison {
  /** By the number of secondaries. */
  readonly pods: ReadonlyMap<number, ByName<PodTimes>>;
  readonly crowd: ByName<readonly Throughput[]>;
  /** Proportional set size of the daemons after all measurements, in MiB. */
  readonly daemons: { readonly plexus: number; readonly thick: number };
  /** Maximum resident set of the program that the runtime starts, in MiB. */
  readonly callers: Readonly<Partial<Record<Meta, number>>>;
  /** Contenders that failed, in the parts `podN` (N secondaries), `crowd` and `callers`. They have no rows there. */
  readonly failures: ContenderFailures;
}

function network(index: number): BridgeNetwork {
  const isDefault = index === 0;
  return {
    bridge: `mx${index}`,
    subnet: `10.${100 + index}.0.0/16`,
    ipam: "host-local",
    name: isDefault ? "multus-pods" : `net${index}`,
    isDefault,
  };
}

/** The contenders for pods with a given number of secondary networks. */
type Field = (pods: PodNamespaces, secondaries: number, args: (pod: number) => string) => ByName<Contender>;

function missingRequirement(): string | undefined {
  return missingBuild() ?? missingPrivateNamespaces() ?? referencePlugins(...native)() ?? kubeApi() ?? everyMultus();
}

/** Runs all measurements once; a string is the reason why they cannot run here. */
export async function compare(): Promise<Comparison | string> {
  const lacking = missingRequirement();
  if (lacking !== undefined) return lacking;
  // Imported here because the official client, which they import, takes longer to load than the other benchmarks.
  const { startApiServer } = await import("../test/lab/kube/api-server.ts");
  const { startThickMultus, missingServiceAccount } = await import("../test/lab/multus/thick-multus.ts");
  const unfit = missingServiceAccount();
  if (unfit !== undefined) return unfit;
  await using stack = new AsyncDisposableStack();
  const api = await startApiServer();
  stack.defer(() => api.dispose());
  const plexus = installPlexus({ native });
  stack.defer(() => plexus.dispose());
  copyFileSync(multusBinary("multus") ?? "", join(plexus.cniPath, "multus"));
  const slow = installRecorder(plexus.cniPath, "slow");
  slow.script("ADD", { sleepMs: 300, stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
  for (const index of [1, 2, 3]) await api.network("shop", `net${index}`, [bridgePlugin(network(index))]);
  await api.network("shop", "slow", [{ type: "slow" }]);
  const defaultNetwork = { cniVersion: "1.0.0", name: network(0).name, plugins: [bridgePlugin(network(0))] };
  const thick = await startThickMultus(api, plexus, defaultNetwork);
  stack.defer(() => thick.stop());
  const daemon = await startDaemon({
    socket: join(plexus.directory, "daemon", "plexus.sock"),
    // Its own state: a daemon prepares components that earlier rows have left in the default directory.
    args: ["--node-name", "node", "--kubeconfig", api.plexus, "--state-dir", plexus.state("daemon-state")],
  });
  stack.defer(async () => void (await daemon.stop()));

  const common = { cniVersion: "1.0.0", name: "multus-cni-network", delegates: [defaultNetwork] };
  const [lib, run, thinState] = [plexus.state("lib"), plexus.runState("run"), plexus.state("multus-thin")];
  const thinConfig = { kubeconfig: api.adminKubeconfig, cniDir: thinState, binDir: plexus.cniPath, logLevel: "error" };
  const field: Field = (pods, count, args) => {
    const networks = Array.from({ length: count + 1 }, (_, index) => network(index));
    const of = { plexus, pods, networks, args };
    return {
      plexus: metaContender({
        ...of,
        name: "plexus",
        program: "plexus",
        config: { ...common, type: "plexus", profile: "multus", cniDir: lib, runDir: run, kubeconfig: api.plexus },
        env: { PLEXUS_SOCKET: daemon.socket },
        state: [lib, run],
      }),
      thin: metaContender({
        ...of,
        name: "thin",
        program: "multus",
        config: { ...common, type: "multus", ...thinConfig },
        state: [],
      }),
      thick: metaContender({ ...of, name: "thick", program: "multus-shim", config: thick.config, state: [] }),
      bare: bareContender({ ...of, name: "bare" }),
    };
  };

  const failures = new ContenderFailures();
  const times = new Map<number, ByName<PodTimes>>();
  for (const count of secondaries) {
    const selection = Array.from({ length: count }, (_, index) => `net${index + 1}`).join(",");
    const pod = await api.pod("shop", `with-${count}`, selection === "" ? undefined : selection);
    times.set(count, await podTimes(field, count, pod, failures));
  }
  const pods: CreatedPod[] = [];
  for (let pod = 0; pod < crowdPods; pod++) pods.push(await api.pod("shop", `crowd-${pod}`));
  const crowd = await crowdTimes(field, pods, { plexus: daemon.pid, thick: thick.pid }, failures);
  const daemons = { plexus: familyPssMiB(daemon.pid), thick: familyPssMiB(thick.pid) };
  const slowPod = await api.pod("shop", "slow", "slow");
  const callers = await callersMemory(field, slowPod, () => slow.calls().length, slow.clear, failures);
  return { pods: times, crowd, daemons, callers, failures };
}

/** ADD and DEL of a pod by each contender in turn. */
async function podTimes(field: Field, count: number, pod: CreatedPod, failures: ContenderFailures): Promise<ByName<PodTimes>> {
  const namespaces = createPodNamespaces(1);
  const contenders = field(namespaces, count, () => pod.args);
  try {
    const onFailure = (name: Name, error: unknown): void => {
      // The bare plugins are the baseline of every row of this part: their failure ends it.
      if (name === "bare") throw error;
      failures.add(`pod${count}`, name, error);
    };
    const taken = await inRotation({ contenders, namespaces, links: count + 1, warmUp, turns, onFailure });
    return byName((name) => taken.get(name) ?? { add: [], del: [] });
  } finally {
    namespaces.dispose();
    contenders.bare.dispose();
  }
}

async function crowdTimes(
  field: Field,
  pods: readonly CreatedPod[],
  daemons: Readonly<Partial<Record<Name, number>>>,
  failures: ContenderFailures,
): Promise<ByName<readonly Throughput[]>> {
  const namespaces = createPodNamespaces(pods.length);
  const contenders = field(namespaces, 0, (pod) => pods[pod]?.args ?? "");
  const taken = byName((): Throughput[] => []);
  try {
    for (let round = 0; round < crowdRounds; round++) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        if (failures.has("crowd", name)) continue;
        const daemon = daemons[name];
        const of = { contender: contenders[name], namespaces, networks: 1 };
        try {
          taken[name].push(await roundOf(daemon === undefined ? of : { ...of, daemon }));
        } catch (error) {
          if (name === "bare") throw error;
          failures.add("crowd", name, error);
          await removeAll(of);
          if (namespaces.links().length > 0) throw error;
        }
      }
    }
    return taken;
  } finally {
    namespaces.dispose();
    contenders.bare.dispose();
  }
}

/** The number of times that a failed round of thin or thick Multus is repeated. */
const maxRepeats = 4;

/** Repeats a failed round of Multus and prints the reason: at this concurrency thin Multus sometimes fails on the API's answer. */
async function roundOf(of: CrowdRun, repeatsLeft: number = maxRepeats): Promise<Throughput> {
  const { contender } = of;
  try {
    return await attachAndDetachAll(of);
  } catch (error) {
    if (contender.name === "plexus" || repeatsLeft === 0) throw error;
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`plexus: a round of ${contender.name} is repeated: ${why.slice(0, 300)}\n`);
    await removeAll(of);
    return roundOf(of, repeatsLeft - 1);
  }
}

/** Calls DEL of every pod and ignores failures. */
async function removeAll({ contender, namespaces }: CrowdRun): Promise<void> {
  const pods = Array.from({ length: namespaces.count }, (_, pod) => pod);
  await runLanes(
    lanes,
    pods.map((pod) => contender.del(pod)),
  );
}

/** Starts each program as a runtime does, and reads its maximum resident set while a slow plugin runs. */
async function callersMemory(
  field: Field,
  pod: CreatedPod,
  called: () => number,
  forget: () => void,
  failures: ContenderFailures,
): Promise<Readonly<Partial<Record<Meta, number>>>> {
  const namespaces = createPodNamespaces(1);
  const contenders = field(namespaces, 0, () => pod.args);
  const memory = async (name: Meta): Promise<number> => {
    forget();
    const [add] = contenders[name].add(0);
    if (add === undefined) return Number.NaN;
    const child = spawn(add.program, [], { env: { ...add.env }, stdio: ["pipe", "ignore", "ignore"] });
    const ended = once(child, "exit");
    child.stdin.end(add.stdin);
    const deadline = Date.now() + 10_000;
    while (called() === 0) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${name}: the slow plugin was not called`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const held = highestRssMiB(child.pid ?? 0);
    await ended;
    await runAll(`${name} DEL`, 1, [contenders[name].del(0)]);
    return held;
  };
  try {
    const taken: Partial<Record<Meta, number>> = {};
    for (const name of ["plexus", "thin", "thick"] as const) {
      try {
        taken[name] = await memory(name);
      } catch (error) {
        failures.add("callers", name, error);
      }
    }
    return taken;
  } finally {
    namespaces.dispose();
    contenders.bare.dispose();
  }
}
