// Pods that sandboxed delegates alone attach (bridge-adapter and ipam-host-local), beside the native plugins called directly, beside
// thick Multus with these plugins, and above the floor: what a C program takes for the same kernel work (floor.c). Everything in one run.

import { join } from "node:path";

import { everyMultus } from "../conformance/multus/multus-binary.ts";
import { startDaemon } from "../harness/daemon.ts";
import type { ApiServer } from "../harness/kube/api-server.ts";
import { kubeApi } from "../harness/kube/binaries.ts";
import { inHost, whyNotPrivate } from "../harness/namespaces.ts";
import { type Installation, installPlexus, missingBuild } from "../harness/plexus.ts";
import { referencePlugins } from "../harness/requires.ts";
import { wasmOnlyDelegates, wasmOnlyGrants } from "../harness/wasm-only.ts";
import { bareContender, bridgePlugin, type BridgeNetwork, type Contender, metaContender } from "./contender.ts";
import { comeAndGo, type Throughput } from "./crowded.ts";
import { floorContender } from "./floor.ts";
import { createPodNamespaces, type PodNamespaces } from "./lanes.ts";
import { inRotation, type PodTimes } from "./rotation.ts";

const native = ["bridge", "host-local"];

/**
 * bare: the plugins, called directly. floor: the C program. wasm: Plexus with its daemon, without a cluster. oneShot: the same without the
 * daemon. wasmApi: with its daemon and a real API. thick: thick Multus, with the same API.
 */
export type Name = "bare" | "floor" | "wasm" | "oneShot" | "wasmApi" | "thick";

const warmUp = 10;
const turns = 40;
/** A call of it takes as long as ten of the others. */
const oneShotTurns = 15;
export const crowdPods = Number(process.env["PLEXUS_BENCH_MULTUS_PODS"] ?? 200);
const crowdRounds = Number(process.env["PLEXUS_BENCH_MULTUS_ROUNDS"] ?? 2);
/** Links of a busy node, beside those of the pod. */
export const manyLinks = 2000;
const manyLinksGroup = "2000";

type Taken<T> = ReadonlyMap<string, T>;

export interface WasmOnly {
  readonly pod0: Taken<PodTimes>;
  /** Of bare and oneShot. */
  readonly oneShot: Taken<PodTimes>;
  readonly pod3: Taken<PodTimes>;
  /** As pod0, of wasm and floor, on a host with many links. */
  readonly pod0Links: Taken<PodTimes>;
  readonly crowd: Taken<readonly Throughput[]>;
  /** Why there is nothing of wasmApi and thick; undefined where there is. */
  readonly lacksApi: string | undefined;
}

/** `leases`: on the disk that the journal is on. */
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

/** The API, Plexus' daemon for it, and thick Multus. */
interface Cluster {
  readonly api: ApiServer;
  readonly socket: string;
  readonly thick: { readonly pid: number; readonly config: object };
  readonly daemon: number;
}

interface Field {
  readonly contenders: Readonly<Record<"bare" | "floor" | "wasm" | "oneShot", Contender>> &
    Readonly<Partial<Record<"wasmApi" | "thick", Contender>>>;
  dispose(): void;
}

interface Bench {
  /** With the native plugins, and with the delegates only. */
  readonly natively: Installation;
  readonly sandboxed: Installation;
  readonly leases: string;
  readonly socket: string;
  readonly cluster: Cluster | undefined;
}

interface Pods {
  readonly namespaces: PodNamespaces;
  readonly networks: number;
  /** Of wasmApi and of thick: they select other definitions. */
  readonly wasmArgs: (pod: number) => string;
  readonly nativeArgs: (pod: number) => string;
}

function fieldOf(bench: Bench, { namespaces, networks, wasmArgs, nativeArgs }: Pods): Field {
  const { natively, sandboxed, socket, cluster, leases } = bench;
  const all = (type: "bridge" | "bridge-adapter") => Array.from({ length: networks }, (_, index) => network(index, type, leases));
  const [ours, theirs] = [all("bridge-adapter"), all("bridge")];
  const main = network(0, "bridge-adapter", leases);
  const throughPlexus = (name: string, env: Readonly<Record<string, string>>, kubeconfig?: string): Contender => {
    const [cniDir, runDir] = [sandboxed.state(`${name}-lib`), sandboxed.runState(`${name}-run`)];
    const delegates = [{ cniVersion: "1.0.0", name: main.name, plugins: [bridgePlugin(main)] }];
    const wasm = { grants: wasmOnlyGrants(["wo*"], leases) };
    const config = { cniVersion: "1.0.0", name: "wasm-only", type: "plexus", cniDir, runDir, wasm, delegates };
    const of = { name, plexus: sandboxed, pods: namespaces, networks: ours, program: "plexus", env, state: [cniDir, runDir] };
    return metaContender(
      kubeconfig === undefined ? { ...of, config } : { ...of, config: { ...config, kubeconfig }, args: wasmArgs },
    );
  };
  const floor = floorContender(namespaces, theirs);
  return {
    contenders: {
      bare: bareContender({ name: "bare", plexus: natively, pods: namespaces, networks: theirs }),
      floor,
      wasm: throughPlexus("wasm", { PLEXUS_SOCKET: socket }),
      oneShot: throughPlexus("oneShot", {}),
      ...(cluster === undefined
        ? {}
        : {
            wasmApi: throughPlexus("wasmApi", { PLEXUS_SOCKET: cluster.socket }, cluster.api.plexus),
            thick: metaContender({
              name: "thick",
              plexus: natively,
              pods: namespaces,
              networks: theirs,
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

/** Measures everything once; a text says why it can't be done here. */
export async function measureWasmOnly(): Promise<WasmOnly | string> {
  const lacking = missingBuild({ components: wasmOnlyDelegates }) ?? whyNotPrivate() ?? referencePlugins(...native)();
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

  // First, so that what comes after it finds both daemons warm.
  const crowd = await crowdTimes(bench, daemon.pid);
  const { pod0, oneShot, pod0Links } = await loneTimes(bench);
  const pod3 = await withSecondaries(bench, 3);
  return { pod0, oneShot, pod3, pod0Links, crowd, lacksApi: typeof cluster === "string" ? cluster : undefined };
}

async function startCluster(
  stack: AsyncDisposableStack,
  natively: Installation,
  sandboxed: Installation,
  leases: string,
): Promise<Cluster | string> {
  // Loaded here: they bring the official client, which takes longer to load than the other benchmarks' own code.
  const lacking = kubeApi() ?? everyMultus();
  if (lacking !== undefined) return lacking;
  const { startApiServer } = await import("../harness/kube/api-server.ts");
  const { startThickMultus, whyNoServiceAccount } = await import("./thick-multus.ts");
  const unfit = whyNoServiceAccount();
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
    args: ["--node-name", "node", "--kubeconfig", api.plexus],
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
  const { oneShot: _, ...all } = field.contenders;
  const daemons: Readonly<Partial<Record<string, number>>> = {
    wasm: daemon,
    ...(cluster === undefined ? {} : { wasmApi: cluster.daemon, thick: cluster.thick.pid }),
  };
  const names = Object.keys(all);
  const taken = new Map<string, Throughput[]>(names.map((name) => [name, []]));
  try {
    const contenders = Object.values<Contender>(all);
    // Not counted: bridges are made, connections opened, and what runs in V8 is compiled.
    for (const contender of contenders) await comeAndGo({ contender, namespaces, networks: 1 });
    for (let round = 0; round < crowdRounds; round++) {
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const pid = daemons[contender.name];
        const of = { contender, namespaces, networks: 1 };
        taken.get(contender.name)?.push(await comeAndGo(pid === undefined ? of : { ...of, daemon: pid }));
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
  const { oneShot, ...resident } = field.contenders;
  const { bare, floor, wasm } = resident;
  const of = { namespaces, links: 1, warmUp };
  try {
    const pod0 = await inRotation({ ...of, contenders: resident, turns });
    const withOneShot = await inRotation({ ...of, contenders: { bare, oneShot }, warmUp: 3, turns: oneShotTurns });
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

/** Pairs of which both ends are the host's: every kernel has them. */
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
    // Without a cluster there is nobody to select secondaries.
    const { wasm: _, oneShot: __, ...all } = field.contenders;
    return await inRotation({ namespaces, links: 1 + secondaries, contenders: all, warmUp, turns });
  } finally {
    namespaces.dispose();
    field.dispose();
  }
}
