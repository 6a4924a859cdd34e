// Many nodes' daemons with one real API server and etcd. An engineer runs it by hand, in private namespaces (npm run shell):
//
//   node bench/cluster-simulation/run.ts --nodes 250 --nodes 500 --nodes 1000 --record docs/reference/cluster-simulation.json
//
// For each number of nodes, in increasing order: all daemons start, pods are made, definitions change, and all daemons restart at once. The API server's own
// metrics say what it sent. At last all nodes claim blocks of a new pool, a /12, beside the real controller of pools. scripts/cluster-simulation-page.ts
// makes the page.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { poolsPart } from "../../features/pools/controller/part.ts";
import { applyObjects, objectsOf } from "../../test/lab/kube/apply.ts";
import { partContext } from "../../test/lab/kube/part-context.ts";
import { daemonRights, poolObject, poolRequests } from "../../test/lab/kube/pool-objects.ts";
import { startApiServer } from "../../test/lab/kube/api-server.ts";
import { adminClient } from "../../test/lab/kube/admin.ts";
import { root } from "../../test/lab/compiled.ts";
import type { ClientsState } from "./clients.ts";
import { type ServerMetrics, serverMetrics } from "./server-metrics.ts";
import type { PoolWork, SimulatedSize, Simulation } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", multiple: true, default: ["100", "200", "400"] },
    "pods-per-node": { type: "string", default: "2" },
    definitions: { type: "string", default: "100" },
    record: { type: "string" },
  },
});
const nodesOfProcess = 500;
const namespace = "shop";
/** Replacements of one definition: a removal and a creation each. */
const changes = 10;

class Clients {
  readonly #processes: ChildProcess[] = [];
  readonly #states = new Map<ChildProcess, ClientsState>();
  /** Rounds of starts that each process must have had. */
  readonly #rounds = new Map<ChildProcess, number>();
  /** Works that each process must have ended. */
  readonly #works = new Map<ChildProcess, number>();
  count = 0;
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Starts processes until there are so many daemons. */
  grow(kubeconfig: string, nodes: number): void {
    for (; this.count < nodes; this.count += Math.min(nodesOfProcess, nodes - this.count)) {
      const args = [
        kubeconfig,
        String(this.count),
        String(Math.min(nodesOfProcess, nodes - this.count)),
        join(this.#directory, String(this.count)),
      ];
      const script = join(root, "bench", "cluster-simulation", "clients.ts");
      const child = spawn(execPath, ["--disable-warning=ExperimentalWarning", script, ...args], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      this.#processes.push(child);
      if (child.stdout !== null)
        createInterface({ input: child.stdout }).on("line", (line) => this.#states.set(child, JSON.parse(line) as ClientsState));
    }
  }

  sum(of: (state: ClientsState) => number): number {
    return [...this.#states.values()].reduce((all, state) => all + of(state), 0);
  }

  /** Seconds from `started` until all daemons are live, after so many rounds of starts in each process. */
  async untilLive(started: number): Promise<number> {
    for (;;) {
      await setTimeout(100);
      const states = [...this.#states.entries()];
      const isLive = states.every(([child, { rounds }]) => rounds >= (this.#rounds.get(child) ?? 1));
      if (states.length === this.#processes.length && isLive && this.sum(({ live }) => live) === this.count)
        return (performance.now() - started) / 1000;
    }
  }

  async restart(): Promise<number> {
    const started = performance.now();
    for (const child of this.#processes) {
      this.#rounds.set(child, (this.#states.get(child)?.rounds ?? 0) + 1);
      child.stdin?.write("restart\n");
    }
    return this.untilLive(started);
  }

  /** Seconds until each node has done its work with a pool. */
  async work(what: "claim" | "look" | "search", pool: string): Promise<number> {
    const started = performance.now();
    for (const child of this.#processes) {
      this.#works.set(child, (this.#states.get(child)?.works ?? 0) + 1);
      child.stdin?.write(`${what} ${pool}\n`);
    }
    for (;;) {
      await setTimeout(100);
      const states = [...this.#states.entries()];
      if (states.every(([child, { works }]) => works >= (this.#works.get(child) ?? 0)))
        return (performance.now() - started) / 1000;
    }
  }

  end(): void {
    for (const child of this.#processes) child.kill();
  }
}

function difference(before: ServerMetrics, after: ServerMetrics): ServerMetrics {
  const entries = Object.entries(after).map(([name, value]) => [name, value - Number(Reflect.get(before, name))]);
  return Object.fromEntries(entries) as unknown as ServerMetrics;
}

const bridge = (vlan: number): readonly object[] => [
  { type: "bridge", bridge: "br0", vlan, ipam: { type: "host-local", subnet: "10.0.0.0/16" } },
];

/** The server serves a new kind some time after its creation. */
async function untilMade(make: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return void (await make());
    } catch (error) {
      if (attempt === 120) throw error;
      await setTimeout(500);
    }
  }
}

/** The controller has accepted the pool's range, and counted its addresses. */
async function untilAccepted(read: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 240; attempt++) {
    if (JSON.stringify(await read()).includes('"acceptedRanges":1')) return;
    await setTimeout(250);
  }
  throw new Error("plexus-controller does not accept the pool");
}

type AdminObjects = ReturnType<typeof adminClient>["objects"];

/** Creates the pods from number `first` on, on the nodes in turn. */
async function createPods(objects: AdminObjects, nodes: number, first: number, end: number): Promise<void> {
  const numbers = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index).values();
  const createPod = async (index: number): Promise<void> => {
    const metadata = { namespace, name: `pod-${index}`, annotations: { "k8s.v1.cni.cncf.io/networks": "net1" } };
    const spec = { nodeName: `node-${index % nodes}`, containers: [{ name: "main", image: "none" }] };
    await objects.create({ apiVersion: "v1", kind: "Pod", metadata, spec } as never);
  };
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const index of numbers) await createPod(index);
    }),
  );
}

/** The work of all nodes with a new pool. */
async function workWithPool(
  objects: AdminObjects,
  clients: Clients,
  look: () => Promise<ServerMetrics>,
  nodes: number,
  subnet: string,
): Promise<Pick<SimulatedSize, "claims" | "looks" | "searches">> {
  const pool = `pool-${nodes}`;
  await untilMade(() => objects.create(poolObject(pool, [{ subnet }]) as never));
  await untilAccepted(() => objects.read({ apiVersion: "plexus.dev/v1alpha1", kind: "AddressPool", metadata: { name: pool } }));
  const work = async (what: Parameters<Clients["work"]>[0]): Promise<PoolWork> => {
    const before = await look();
    const seconds = await clients.work(what, pool);
    const { blockLists, blockListBytes, blockRequests, cpuSeconds } = difference(before, await look());
    return { seconds, lists: blockLists, listBytes: blockListBytes, requests: blockRequests, cpuSeconds };
  };
  const claims = await work("claim");
  const looks = await work("look");
  return { claims, looks, searches: await work("search") };
}

/** Starts the API server with plexus-controller's part for pools; the stack ends both. `directory`: for files of the clients. */
async function openCluster(stack: AsyncDisposableStack) {
  const api = await startApiServer({ alsoAllowed: poolRequests });
  stack.defer(() => api.dispose().catch(() => undefined));
  const { objects } = adminClient(api.adminKubeconfig);
  const directory = mkdtempSync(join(tmpdir(), "plexus-simulation-"));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const controllerObjects = objectsOf(api.adminKubeconfig);
  await applyObjects(controllerObjects, "deploy/helm/plexus/files/pools.yaml");
  for (const object of daemonRights) await api.admin.create(object);
  const term = new AbortController();
  const controller = poolsPart()(partContext(controllerObjects)).run(term.signal);
  stack.defer(async () => {
    term.abort();
    await controller.catch(() => undefined);
    controllerObjects.close();
  });
  return { api, objects, directory };
}

async function simulate(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { api, objects, directory } = await openCluster(stack);
  const clients = new Clients(directory);
  stack.defer(() => clients.end());
  for (let index = 0; index < Number(values.definitions); index++) await api.network(namespace, `net${index}`, bridge(index));
  const sizes: SimulatedSize[] = [];
  let pods = 0;
  const look = (): Promise<ServerMetrics> => serverMetrics(api.adminKubeconfig);
  for (const nodes of values.nodes.map(Number)) {
    const beforeStart = await look();
    const earlier = clients.count;
    const started = performance.now();
    clients.grow(api.plexus, nodes);
    const startSeconds = await clients.untilLive(started);
    const start = difference(beforeStart, await look());

    const beforePods = await look();
    const toldBefore = clients.sum(({ podChanges }) => podChanges);
    const first = pods;
    const wanted = nodes * Number(values["pods-per-node"]);
    const podsStarted = performance.now();
    await createPods(objects, nodes, pods, wanted);
    pods = Math.max(pods, wanted);
    const podSeconds = (performance.now() - podsStarted) / 1000;
    await setTimeout(2000);
    const newPods = difference(beforePods, await look());
    const told = clients.sum(({ podChanges }) => podChanges) - toldBefore;

    const beforeChanges = await look();
    for (let change = 0; change < changes; change++) await api.network(namespace, "net0", bridge(1000 + change));
    await setTimeout(2000);
    const changed = difference(beforeChanges, await look());

    const beforeRestart = await look();
    const restartSeconds = await clients.restart();
    const now = await look();
    const restart = difference(beforeRestart, now);

    const poolWork = await workWithPool(objects, clients, look, nodes, `10.${16 * (sizes.length + 1)}.0.0/12`);
    sizes.push({
      nodes,
      pods,
      definitions: Number(values.definitions),
      watches: now.watches,
      objects: clients.sum((state) => state.objects),
      start: { seconds: startSeconds, lists: start.lists, listBytes: start.listBytes, cpuSeconds: start.cpuSeconds },
      restart: {
        seconds: restartSeconds,
        lists: restart.lists,
        listBytes: restart.listBytes,
        refused: restart.refused,
        cpuSeconds: restart.cpuSeconds,
      },
      newPods: {
        count: pods - first,
        podsPerMinute: ((pods - first) / podSeconds) * 60,
        events: told,
        cpuSeconds: newPods.cpuSeconds,
      },
      definitionChanges: { count: changes, events: changed.definitionEvents, bytes: changed.definitionEventBytes },
      serverRssMiB: now.rssMiB,
      ...poolWork,
      warnings: clients.sum(({ warnings }) => warnings),
      clientRssMiB: clients.sum(({ rssMiB }) => rssMiB),
    });
    process.stdout.write(`${JSON.stringify({ ...sizes.at(-1), startedNodes: nodes - earlier })}\n`);
    record(sizes);
  }
}

/** Called after each size: a run that is ended early keeps the figures of the smaller clusters. */
function record(sizes: readonly SimulatedSize[]): void {
  if (values.record === undefined) return;
  // policy.ts records its figures in the same file.
  const { policy } = existsSync(values.record) ? (JSON.parse(readFileSync(values.record, "utf8")) as Simulation) : {};
  const simulation = { date: new Date().toISOString().slice(0, 10), processors: cpus().length, sizes, policy };
  writeFileSync(values.record, `${JSON.stringify(simulation, null, 2)}\n`);
}

await simulate();
process.exit(0);
