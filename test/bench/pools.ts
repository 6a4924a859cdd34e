// Pools of addresses with a real API server. pool-ipam-step: an ADD with an address of a pool against the same with an address of the node.
// pool-allocate: 2,048 addresses of one pool through 32 daemons, none twice.

import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { applyObjects, collectionOf, objectsOf } from "../harness/kube/apply.ts";
import type { ApiServer } from "../harness/kube/api-server.ts";
import { kubeApi } from "../harness/kube/binaries.ts";
import { daemonRights, poolObject, poolRequests } from "../harness/kube/pool-objects.ts";
import { missingPrivateNamespaces } from "../harness/namespaces.ts";
import { missingBuild, runtimeEnvironment } from "../harness/plexus.ts";
import { type PoolCall, type PoolNode, openPoolNode } from "../kube/pool-node.ts";
import { runLanes } from "./lanes.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";
import { startStopwatch } from "./stopwatch.ts";

const daemons = 32;
const addressesOfNode = 64;
/** The bound of pool-allocate in ms. */
const allocateMs = 10_000;
const rounds = 3;

function missingHere(): string | undefined {
  return missingBuild({ components: ["ipam-host-local"] }) ?? missingPrivateNamespaces() ?? kubeApi();
}

/** Runs `act` with an API server that has the pools. */
async function withPools<T>(pools: readonly KubernetesObject[], act: (api: ApiServer) => Promise<T>): Promise<T> {
  const { startApiServer } = await import("../harness/kube/api-server.ts");
  const api = await startApiServer({ alsoAllowed: poolRequests });
  const objects = objectsOf(api.adminKubeconfig);
  try {
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    for (const object of daemonRights) await api.admin.create(object);
    for (const pool of pools) await untilMade(objects, pool);
    return await act(api);
  } finally {
    objects.close();
    await api.dispose();
  }
}

/** The server serves a new kind, and follows a new policy, some time after its creation. */
async function untilMade(objects: ReturnType<typeof objectsOf>, pool: KubernetesObject): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; await new Promise((resolve) => setTimeout(resolve, 250))) {
    const made = await objects.create(collectionOf(pool), { ...pool });
    if (made.kind === "object") return;
    if (Date.now() > deadline) throw new Error(made.why);
  }
}

async function samplePoolStep(): Promise<Samples | string> {
  const lacking = missingHere();
  if (lacking !== undefined) return lacking;
  return withPools([poolObject("bench", [{ subnet: "10.180.0.0/20" }], { blockSize: 1024 })], async (api) => {
    const node = await openPoolNode("bench-1", api.plexus);
    const stopwatch = startStopwatch();
    let containers = 0;
    const timedAdd = async (more: PoolCall): Promise<number> => {
      const container = `c${containers++}`;
      const call = (verb: string) => {
        const { config, ...request } = node.request(verb, container, more);
        const env = runtimeEnvironment(request, node.plexus.cniPath);
        return stopwatch.run({ argv: [join(node.plexus.cniPath, "plexus")], env, stdin: JSON.stringify(config) });
      };
      const { ms, stdout } = await call("ADD");
      if (!stdout.includes("/20")) throw new Error(`no address: ${stdout}`);
      await call("DEL");
      return ms;
    };
    const ofNode = {
      ipam: { pool: undefined, ranges: [[{ subnet: "10.196.0.0/20" }]] },
      grants: { log: {}, leases: { directories: [node.plexus.state("leases")] }, resolver: {} },
    };
    try {
      return await inTurns({
        subject: () => timedAdd({ pool: "bench" }),
        baseline: () => timedAdd(ofNode),
        warmUp: 100,
        samples: 400,
      });
    } finally {
      await stopwatch.dispose();
      await node.dispose();
    }
  });
}

/** Milliseconds for all addresses of one pool. Throws if an address was handed out twice. */
async function allocate(nodes: readonly PoolNode[], pool: string): Promise<number> {
  const items = nodes.map((node) =>
    Array.from({ length: addressesOfNode }, (_, index) => {
      const { config, ...request } = node.request("ADD", `${pool}-${index}`, { pool });
      return {
        program: join(node.plexus.cniPath, "plexus"),
        env: runtimeEnvironment(request, node.plexus.cniPath),
        stdin: JSON.stringify(config),
      };
    }),
  );
  const run = await runLanes(nodes.length, items);
  const failed = run.calls.find(({ status }) => status !== 0);
  if (failed !== undefined) throw new Error(`an ADD failed: ${failed.stdout.slice(0, 500)}`);
  const addresses = run.calls.map(({ stdout }) => /"address":\s*"([^"]+)"/u.exec(stdout)?.[1]);
  const distinct = new Set(addresses);
  if (distinct.size !== nodes.length * addressesOfNode || distinct.has(undefined)) {
    throw new Error(`${addresses.length} ADDs have ${distinct.size} addresses`);
  }
  return run.ms;
}

async function sampleAllocate(): Promise<Samples | string> {
  const lacking = missingHere();
  if (lacking !== undefined) return lacking;
  const names = Array.from({ length: rounds }, (_, round) => `bench-${round}`);
  const pools = names.map((name, round) => poolObject(name, [{ subnet: `10.${181 + round}.0.0/19` }]));
  return withPools(pools, async (api) => {
    const nodes: PoolNode[] = [];
    try {
      // One after the other: 32 starts of Node at once would take the machine's memory.
      for (let index = 0; index < daemons; index++)
        nodes.push(await openPoolNode(`bench-${index}`, api.plexus, { sandboxes: 1 }));
      // A daemon that has served a call has its sandbox process.
      for (const node of nodes) await node.call("STATUS", "", { pool: names[0] ?? "" });
      const subject: number[] = [];
      for (const name of names) subject.push(await allocate(nodes, name));
      return { subject, baseline: subject.map(() => allocateMs) };
    } finally {
      for (const node of nodes) await node.dispose();
    }
  });
}

/** The rows of pools. */
export const poolBenchmarks: readonly Benchmark[] = [
  {
    id: "pool-ipam-step",
    title: "ADD of an address of a pool of the cluster through the daemon / ADD of an address of the node",
    target: "at most 0.3 ms above at the median",
    difference: true,
    sample: samplePoolStep,
  },
  {
    id: "pool-allocate",
    title: `${daemons * addressesOfNode} addresses of one pool through ${daemons} daemons with one API server, none twice; the baseline is the bound`,
    target: "under 10 s",
    sample: sampleAllocate,
  },
];
