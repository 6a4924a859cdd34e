// sparse-…: a node that starts a pod now and then. One ADD and DEL every 10 s through Plexus with native plugins, Plexus with components and thick
// Multus, all with one real API server. In the pauses caches grow cold and V8 frees memory, which calls in a row never show.

import { join } from "node:path";

import { startDaemon } from "../test/lab/daemon.ts";
import type { ApiServer } from "../test/lab/kube/api-server.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import { everyMultus } from "../test/lab/multus/multus-binary.ts";
import { missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { referencePlugins } from "../test/lab/requires.ts";
import { wasmOnlyDelegates, wasmOnlyGrants } from "../test/lab/wasm-only.ts";
import { bridgePlugin, type BridgeNetwork, type Contender, metaContender } from "./contender.ts";
import { createPodNamespaces, type PodNamespaces, runAll } from "./lanes.ts";

const native = ["bridge", "host-local"];

/** The contenders of the rows. */
export const sparseNames = ["native", "wasm-only", "multus"] as const;
export type SparseName = (typeof sparseNames)[number];

/** Minutes of the calls with pauses. */
export const sparseMinutes = Number(process.env["PLEXUS_BENCH_SPARSE_MINUTES"] ?? 10);
export const pauseSeconds = 10;
/** Starts of each daemon: each gives one first ADD. */
export const starts = Number(process.env["PLEXUS_BENCH_SPARSE_STARTS"] ?? 5);
const callsInARow = 40;
/** Milliseconds between a daemon's start and its first call. A runtime's first call rarely follows at once. */
const restMs = 1_500;

/** Milliseconds of ADDs. */
export interface SparseTimes {
  /** The first ADD after each start of the daemon. */
  readonly first: readonly number[];
  /** ADDs in a row. */
  readonly warm: readonly number[];
  /** ADDs with pauses. */
  readonly sparse: readonly number[];
}

/** The times by contender; a string is the reason why a contender has none. */
export type Sparse = Readonly<Record<SparseName, SparseTimes | string>>;

interface Side {
  readonly contender: Contender;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function network(name: SparseName, leases: string): BridgeNetwork {
  const isWasm = name === "wasm-only";
  return {
    type: isWasm ? "bridge-adapter" : "bridge",
    ipam: isWasm ? "ipam-host-local" : "host-local",
    bridge: `sp-${name}`,
    subnet: `10.${130 + sparseNames.indexOf(name)}.0.0/16`,
    name: `sparse-${name}`,
    leases,
  };
}

interface Bench {
  readonly api: ApiServer;
  readonly pods: PodNamespaces;
  readonly args: string;
  readonly stack: AsyncDisposableStack;
}

function plexusSide({ api, pods, args, stack }: Bench, name: "native" | "wasm-only"): Side {
  const plexus = installPlexus(name === "native" ? { native } : { components: wasmOnlyDelegates });
  stack.defer(() => plexus.dispose());
  const leases = plexus.state("leases");
  const of = network(name, leases);
  const [cniDir, runDir, state] = [plexus.state("lib"), plexus.runState("run"), plexus.state("daemon")];
  const socket = join(plexus.directory, "daemon", "plexus.sock");
  const config = {
    cniVersion: "1.0.0",
    name: of.name,
    type: "plexus",
    cniDir,
    runDir,
    kubeconfig: api.plexus,
    wasm: { grants: wasmOnlyGrants(["sp-*"], leases) },
    delegates: [{ cniVersion: "1.0.0", name: of.name, plugins: [bridgePlugin(of)] }],
  };
  const env = { PLEXUS_SOCKET: socket };
  const common = { name, plexus, pods, networks: [of], config, env, args: () => args };
  let stop: (() => Promise<unknown>) | undefined;
  return {
    contender: metaContender({ ...common, program: "plexus", state: [cniDir, runDir] }),
    async start() {
      const watches = ["--node-name", "node", "--kubeconfig", api.plexus, "--state-dir", state];
      ({ stop } = await startDaemon({ socket, args: watches }));
    },
    stop: async () => void (await stop?.()),
  };
}

async function multusSide({ api, pods, args, stack }: Bench): Promise<Side | string> {
  const { startThickMultus, missingServiceAccount } = await import("../test/lab/multus/thick-multus.ts");
  const lacking = everyMultus() ?? missingServiceAccount();
  if (lacking !== undefined) return lacking;
  const plexus = installPlexus({ native });
  stack.defer(() => plexus.dispose());
  const of = network("multus", plexus.state("leases"));
  const main = { cniVersion: "1.0.0", name: of.name, plugins: [bridgePlugin(of)] };
  const daemon = await startThickMultus(api, plexus, main);
  const common = { name: "multus", plexus, pods, networks: [of], config: daemon.config, args: () => args, state: [] };
  let stop: (() => Promise<void>) | undefined = daemon.stop;
  return {
    contender: metaContender({ ...common, program: "multus-shim" }),
    async start() {
      stop ??= (await startThickMultus(api, plexus, main)).stop;
    },
    async stop() {
      await stop?.();
      stop = undefined;
    },
  };
}

/** Milliseconds of an ADD. The pod's DEL follows. */
async function addOf({ contender }: Side): Promise<number> {
  const { calls } = await runAll(`${contender.name} ADD`, 1, [contender.add(0)]);
  await runAll(`${contender.name} DEL`, 1, [contender.del(0)]);
  const left = contender.left();
  if (left.length > 0) throw new Error(`${contender.name} left behind: ${left.join(", ")}`);
  return calls.reduce((sum, { ms }) => sum + ms, 0);
}

/** First ADDs and ADDs in a row. The daemon runs afterwards. */
async function withoutPauses(side: Side): Promise<Omit<SparseTimes, "sparse">> {
  const first: number[] = [];
  for (let start = 0; start < starts; start++) {
    if (start > 0) await side.stop();
    await side.start();
    await sleep(restMs);
    first.push(await addOf(side));
  }
  const warm: number[] = [];
  for (let call = 0; call < callsInARow; call++) warm.push(await addOf(side));
  // The first half only warms up.
  return { first, warm: warm.slice(callsInARow / 2) };
}

/** Runs all measurements once; a string is the reason why they cannot run here. */
export async function measureSparse(): Promise<Sparse | string> {
  const lacking =
    missingBuild({ components: wasmOnlyDelegates }) ?? missingPrivateNamespaces() ?? referencePlugins(...native)() ?? kubeApi();
  if (lacking !== undefined) return lacking;
  await using stack = new AsyncDisposableStack();
  // Imported here because the official client, which it imports, takes longer to load than the other benchmarks.
  const { startApiServer } = await import("../test/lab/kube/api-server.ts");
  const api = await startApiServer();
  stack.defer(() => api.dispose());
  const pods = createPodNamespaces(1);
  stack.defer(() => pods.dispose());
  const { args } = await api.pod("shop", "sparse", undefined);
  const bench = { api, pods, args, stack };
  const sides = new Map<SparseName, Side>();
  for (const name of ["native", "wasm-only"] as const) sides.set(name, plexusSide(bench, name));
  const multus = await multusSide(bench);
  if (typeof multus !== "string") sides.set("multus", multus);
  for (const { contender, stop } of sides.values()) {
    stack.defer(() => contender.dispose());
    stack.defer(stop);
  }
  const times = new Map<SparseName, Omit<SparseTimes, "sparse"> & { readonly sparse: number[] }>();
  for (const [name, side] of sides) times.set(name, { ...(await withoutPauses(side)), sparse: [] });
  const rounds = Math.max(1, Math.round((sparseMinutes * 60) / pauseSeconds));
  for (let round = 0; round < rounds; round++) {
    for (const [name, side] of sides) {
      // The contenders' calls lie as far apart as they can.
      await sleep((pauseSeconds * 1000) / sides.size);
      times.get(name)?.sparse.push(await addOf(side));
    }
  }
  const of = (name: SparseName): SparseTimes | string =>
    times.get(name) ?? (typeof multus === "string" ? multus : "not measured");
  return { native: of("native"), "wasm-only": of("wasm-only"), multus: of("multus") };
}
