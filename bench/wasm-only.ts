// Pods that only sandboxed delegates attach (bridge-adapter and ipam-host-local). The baselines are direct calls of the native
// plugins, thick Multus with the native plugins, and the floor, a C program that does the same kernel work (floor.c). One run
// measures all of them.

import { join } from "node:path";

import { everyMultus } from "../test/lab/multus/multus-binary.ts";
import { startDaemon } from "../test/lab/daemon.ts";
import type { ApiServer } from "../test/lab/kube/api-server.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import { inHost, missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { type Installation, installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { wasmOnlyDelegates, wasmOnlyGrants } from "../test/lab/wasm-only.ts";
import { bareContender, bridgePlugin, type BridgeNetwork, type Contender, metaContender } from "./contender.ts";
import { attachAndDetachAll, type Throughput } from "./crowded.ts";
import { floorContender } from "./floor.ts";
import { createPodNamespaces, type PodNamespaces } from "./lanes.ts";
import { familyPssMiB, restMs } from "./observed-daemon.ts";
import { inRotation, type PodTimes } from "./rotation.ts";

const native = ["bridge", "host-local"];

/**
 * bare: direct calls of the plugins. floor: the C program. wasm: Plexus with its daemon, without a cluster. oneShot: Plexus
 * without daemon and cluster, delegates in the engine's process. oneShotProcess: the same, delegates in sandbox processes (the default).
 * wasmApi: Plexus with its daemon and a real API. thick: thick Multus with the same API.
 */
export type Name = "bare" | "floor" | "wasm" | "oneShot" | "oneShotProcess" | "wasmApi" | "thick";

const warmUp = 10;
const turns = 40;
/** The turns of oneShot and oneShotProcess, whose calls take ten times as long as the others. */
const oneShotTurns = 15;
export const crowdPods = Number(process.env["PLEXUS_BENCH_MULTUS_PODS"] ?? 200);
const crowdRounds = Number(process.env["PLEXUS_BENCH_MULTUS_ROUNDS"] ?? 2);
/** The number of links of a busy node, without those of the pod. */
export const manyLinks = 2000;
const manyLinksGroup = "2000";

type Taken<T> = ReadonlyMap<string, T>;

export interface WasmOnly {
  readonly pod0: Taken<PodTimes>;
  /** Times of bare, oneShot and oneShotProcess. */
  readonly oneShot: Taken<PodTimes>;
  readonly pod3: Taken<PodTimes>;
  /** Times of wasm and floor as in pod0, on a host with many links. */
  readonly pod0Links: Taken<PodTimes>;
  readonly crowd: Taken<readonly Throughput[]>;
  /** The proportional set size in MiB of each daemon with its processes, after all these pods; undefined if they were not measured. */
  readonly memory: Readonly<Record<"wasmApi" | "thick", number>> | undefined;
  /** The reason why wasmApi and thick were not measured; undefined if they were. */
  readonly missingApiReason: string | undefined;
}

/** A bridge network. `leases` is a directory on the journal's file system. */
function network(index: number, type: "bridge" | "bridge-adapter", leases: string): BridgeNetwork {
  return {
    type,
    leases,
    bridge: `wo${index}`,
    subnet: `10.${110 + index}.0.0/16`,
    ipam: type === "bridge" ? "host-local" : "ipam-host-local",
    name: `${type === "bridge" ? "native" : "wasm"}-net${index}`,
    isDefault: index === 0,
  };
}

/** An API server, Plexus' daemon for it, and thick Multus. */
interface Cluster {
  readonly api: ApiServer;
  readonly socket: string;
  readonly thick: { readonly pid: number; readonly config: object };
  readonly daemon: number;
}

interface Field {
  readonly contenders: Readonly<Record<"bare" | "floor" | "wasm" | "oneShot" | "oneShotProcess", Contender>> &
    Readonly<Partial<Record<"wasmApi" | "thick", Contender>>>;
  dispose(): void;
}

interface Bench {
  /** Installations with the native plugins, and with the delegates only. */
  readonly natively: Installation;
  readonly sandboxed: Installation;
  readonly leases: string;
  readonly socket: string;
  readonly cluster: Cluster | undefined;
}

interface Pods {
  readonly namespaces: PodNamespaces;
  readonly networks: number;
  /** CNI_ARGS of the pods of wasmApi and of thick, which select different definitions. */
  readonly wasmArgs: (pod: number) => string;
  readonly nativeArgs: (pod: number) => string;
}

function fieldOf(bench: Bench, { namespaces, networks, wasmArgs, nativeArgs }: Pods): Field {
  const { natively, sandboxed, socket, cluster, leases } = bench;
  const all = (type: "bridge" | "bridge-adapter") => Array.from({ length: networks }, (_, index) => network(index, type, leases));
  const [wasmNetworks, nativeNetworks] = [all("bridge-adapter"), all("bridge")];
  const main = network(0, "bridge-adapter", leases);
  const throughPlexus = (
    name: string,
    env: Readonly<Record<string, string>>,
    { kubeconfig, isolation = "process" }: { readonly kubeconfig?: string; readonly isolation?: "process" | "in-process" } = {},
  ): Contender => {
    const [cniDir, runDir] = [sandboxed.state(`${name}-lib`), sandboxed.runState(`${name}-run`)];
    const delegates = [{ cniVersion: "1.0.0", name: main.name, plugins: [bridgePlugin(main)] }];
    const wasm = { isolation, grants: wasmOnlyGrants(["wo*"], leases) };
    const definitions = { trusted: ["shop"] };
    const config = { cniVersion: "1.0.0", name: "wasm-only", type: "plexus", cniDir, runDir, wasm, definitions, delegates };
    const of = {
      name,
      plexus: sandboxed,
      pods: namespaces,
      networks: wasmNetworks,
      program: "plexus",
      env,
      state: [cniDir, runDir],
    };
    return metaContender(
      kubeconfig === undefined ? { ...of, config } : { ...of, config: { ...config, kubeconfig }, args: wasmArgs },
    );
  };
  const floor = floorContender(namespaces, nativeNetworks);
  return {
    contenders: {
      bare: bareContender({ name: "bare", plexus: natively, pods: namespaces, networks: nativeNetworks }),
      floor,
      wasm: throughPlexus("wasm", { PLEXUS_SOCKET: socket }),
      oneShot: throughPlexus("oneShot", {}, { isolation: "in-process" }),
      oneShotProcess: throughPlexus("oneShotProcess", {}),
      ...(cluster === undefined
        ? {}
        : {
            wasmApi: throughPlexus("wasmApi", { PLEXUS_SOCKET: cluster.socket }, { kubeconfig: cluster.api.plexus }),
            thick: metaContender({
              name: "thick",
              plexus: natively,
              pods: namespaces,
              networks: nativeNetworks,
              args: nativeArgs,
              program: "multus-shim",
              config: cluster.thick.config,
              state: [],
            }),
          }),
    },
    dispose: () => floor.dispose(),
  };
}

/** Runs all measurements once; a string is the reason why they cannot run here. */
export async function measureWasmOnly(): Promise<WasmOnly | string> {
  const lacking = missingBuild({ components: wasmOnlyDelegates }) ?? missingPrivateNamespaces() ?? referencePlugins(...native)();
  if (lacking !== undefined) return lacking;
  await using stack = new AsyncDisposableStack();
  const natively = installPlexus({ native });
  stack.defer(() => natively.dispose());
  const sandboxed = installPlexus({ components: wasmOnlyDelegates });
  stack.defer(() => sandboxed.dispose());
  const daemon = await startDaemon({ socket: join(sandboxed.directory, "daemon", "plexus.sock") });
  stack.defer(async () => void (await daemon.stop()));
  const leases = natively.state("leases");
  const cluster = await startCluster(stack, natively, sandboxed, leases);
  const withApi = typeof cluster === "string" ? undefined : cluster;
  const bench = { natively, sandboxed, leases, socket: daemon.socket, cluster: withApi };

  // The crowd runs first, so that both daemons are warm for the other measurements.
  const crowd = await crowdTimes(bench, daemon.pid);
  const { pod0, oneShot, pod0Links } = await loneTimes(bench);
  const pod3 = await withSecondaries(bench, 3);
  const memory = withApi === undefined ? undefined : await memoryOf(withApi);
  const missingApiReason = typeof cluster === "string" ? cluster : undefined;
  return { pod0, oneShot, pod3, pod0Links, crowd, memory, missingApiReason };
}

async function memoryOf({ daemon, thick }: Cluster): Promise<WasmOnly["memory"]> {
  await new Promise((resolve) => setTimeout(resolve, restMs));
  return { wasmApi: familyPssMiB(daemon), thick: familyPssMiB(thick.pid) };
}

async function startCluster(
  stack: AsyncDisposableStack,
  natively: Installation,
  sandboxed: Installation,
  leases: string,
): Promise<Cluster | string> {
  // Imported here because the official client, which they import, takes longer to load than the other benchmarks.
  const lacking = kubeApi() ?? everyMultus();
  if (lacking !== undefined) return lacking;
  const { startApiServer } = await import("../test/lab/kube/api-server.ts");
  const { startThickMultus, missingServiceAccount } = await import("../test/lab/multus/thick-multus.ts");
  const unfit = missingServiceAccount();
  if (unfit !== undefined) return unfit;
  const api = await startApiServer();
  stack.defer(() => api.dispose());
  for (const type of ["bridge", "bridge-adapter"] as const) {
    for (const index of [1, 2, 3]) {
      const each = network(index, type, leases);
      await api.network("shop", each.name, [bridgePlugin(each)]);
    }
  }
  const main = network(0, "bridge", leases);
  const defaultNetwork = { cniVersion: "1.0.0", name: main.name, plugins: [bridgePlugin(main)] };
  const thick = await startThickMultus(api, natively, defaultNetwork);
  stack.defer(() => thick.stop());
  const daemon = await startDaemon({
    socket: join(sandboxed.directory, "daemon-api", "plexus.sock"),
    // Its own state: a daemon prepares components that earlier rows have left in the default directory.
    args: ["--node-name", "node", "--kubeconfig", api.plexus, "--state-dir", sandboxed.state("daemon-state")],
  });
  stack.defer(async () => void (await daemon.stop()));
  return { api, socket: daemon.socket, thick, daemon: daemon.pid };
}

async function podWith(cluster: Cluster | undefined, name: string, selection: readonly string[]): Promise<string> {
  return (await cluster?.api.pod("shop", name, selection.length === 0 ? undefined : selection.join(",")))?.args ?? "";
}

async function crowdTimes(bench: Bench, daemon: number): Promise<Taken<readonly Throughput[]>> {
  const { cluster } = bench;
  const args: string[] = [];
  for (let pod = 0; pod < crowdPods; pod++) args.push(await podWith(cluster, `crowd-${pod}`, []));
  const namespaces = createPodNamespaces(crowdPods);
  const argsOf = (pod: number): string => args[pod] ?? "";
  const field = fieldOf(bench, { namespaces, networks: 1, wasmArgs: argsOf, nativeArgs: argsOf });
  const { oneShot: _, oneShotProcess: __, ...all } = field.contenders;
  const daemons: Readonly<Partial<Record<string, number>>> = {
    wasm: daemon,
    ...(cluster === undefined ? {} : { wasmApi: cluster.daemon, thick: cluster.thick.pid }),
  };
  const names = Object.keys(all);
  const taken = new Map<string, Throughput[]>(names.map((name) => [name, []]));
  try {
    const contenders = Object.values<Contender>(all);
    // Warm-up: the contenders make bridges, open connections, and V8 compiles the code.
    for (const contender of contenders) await attachAndDetachAll({ contender, namespaces, networks: 1 });
    for (let round = 0; round < crowdRounds; round++) {
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const pid = daemons[contender.name];
        const of = { contender, namespaces, networks: 1 };
        taken.get(contender.name)?.push(await attachAndDetachAll(pid === undefined ? of : { ...of, daemon: pid }));
      }
    }
    return taken;
  } finally {
    namespaces.dispose();
    field.dispose();
  }
}

async function loneTimes(bench: Bench): Promise<Pick<WasmOnly, "pod0" | "oneShot" | "pod0Links">> {
  const namespaces = createPodNamespaces(1);
  const args = await podWith(bench.cluster, "lone", []);
  const field = fieldOf(bench, { namespaces, networks: 1, wasmArgs: () => args, nativeArgs: () => args });
  const { oneShot, oneShotProcess, ...throughDaemon } = field.contenders;
  const { bare, floor, wasm } = throughDaemon;
  const of = { namespaces, links: 1, warmUp };
  try {
    const pod0 = await inRotation({ ...of, contenders: throughDaemon, turns });
    const withOneShot = await inRotation({
      ...of,
      contenders: { bare, oneShot, oneShotProcess },
      warmUp: 3,
      turns: oneShotTurns,
    });
    addManyLinks();
    try {
      const pod0Links = await inRotation({ ...of, contenders: { floor, wasm }, turns });
      return { pod0, oneShot: withOneShot, pod0Links };
    } finally {
      inHost(["ip", "link", "delete", "group", manyLinksGroup]);
    }
  } finally {
    namespaces.dispose();
    field.dispose();
  }
}

/** Adds veth pairs with both ends on the host; every kernel has veth. */
function addManyLinks(): void {
  const script =
    'i=0; while [ $i -lt "$0" ]; do echo "link add many$i group $1 type veth peer name more$i group $1"; i=$((i+1)); done | ip -batch -';
  inHost(["sh", "-c", script, String(manyLinks / 2), manyLinksGroup]);
}

async function withSecondaries(bench: Bench, secondaries: number): Promise<Taken<PodTimes>> {
  const namespaces = createPodNamespaces(1);
  const selected = (type: "bridge" | "bridge-adapter"): readonly string[] =>
    Array.from({ length: secondaries }, (_, index) => network(index + 1, type, bench.leases).name);
  const wasmArgs = await podWith(bench.cluster, "wasm", selected("bridge-adapter"));
  const nativeArgs = await podWith(bench.cluster, "native", selected("bridge"));
  const field = fieldOf(bench, {
    namespaces,
    networks: 1 + secondaries,
    wasmArgs: () => wasmArgs,
    nativeArgs: () => nativeArgs,
  });
  try {
    // Without a cluster no annotation can select secondary networks.
    const { wasm: _, oneShot: __, oneShotProcess: ___, ...all } = field.contenders;
    return await inRotation({ namespaces, links: 1 + secondaries, contenders: all, warmUp, turns });
  } finally {
    namespaces.dispose();
    field.dispose();
  }
}
