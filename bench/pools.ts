// Pools of addresses with a real API server. pool-ipam-step: an ADD with an address of a pool against the same with an address of the node.
// pool-allocate: 2,048 addresses of one pool through 32 daemons, none twice, while ten nodes that are gone still have blocks.
// pool-allocate-faults: the same while one daemon after the other is killed and started again, and the API server once.

import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { KubernetesObject } from "@kubernetes/client-node";
import { addressBlockObject, addressBlocksPath } from "../features/pools/rules/address-block.ts";
import { readAddressPool } from "../features/pools/rules/address-pool.ts";
import { candidates } from "../features/pools/rules/next-block.ts";
import { type AddressSpan, hasAddress } from "../features/pools/rules/spans.ts";
import { readCidr } from "../src/net/ip.ts";
import { applyObjects, collectionOf, objectsOf } from "../test/lab/kube/apply.ts";
import type { ApiServer } from "../test/lab/kube/api-server.ts";
import { kubeApi } from "../test/lab/kube/binaries.ts";
import { daemonRights, poolObject, poolRequests } from "../test/lab/kube/pool-objects.ts";
import { missingPrivateNamespaces } from "../test/lab/namespaces.ts";
import { missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { type PoolCall, type PoolNode, openPoolNode } from "../test/api/pool-node.ts";
import { type LaneCall, runLanes } from "./lanes.ts";
import { type Benchmark, inTurns, quantile, type Samples } from "./measure.ts";
import { startStopwatch } from "./stopwatch.ts";
import { allocateByWhereabouts } from "./whereabouts/allocate.ts";
import { realWhereabouts } from "../test/lab/whereabouts/whereabouts-binary.ts";

const daemons = 32;
/** Nodes that are gone, with a block each. */
const goneNodes = 10;
const addressesOfNode = 64;
/** The bound of pool-allocate in ms. */
const allocateMs = 10_000;
const rounds = 3;
/** Time between the start of a daemon and the kill of the next one, in ms. */
const faultMs = 500;

function missingHere(): string | undefined {
  return missingBuild({ components: ["ipam-host-local"] }) ?? missingPrivateNamespaces() ?? kubeApi();
}

/** Runs `act` with an API server that has the pools. */
async function withPools<T>(pools: readonly KubernetesObject[], act: (api: ApiServer) => Promise<T>): Promise<T> {
  const { startApiServer } = await import("../test/lab/kube/api-server.ts");
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
  for (const deadline = Date.now() + 30_000; ; await setTimeout(250)) {
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

/** Claims a block for each of some nodes that do not exist, at the place where each would begin; answers their addresses. */
async function claimForGone(api: ApiServer, poolName: string): Promise<readonly AddressSpan[]> {
  const objects = objectsOf(api.adminKubeconfig);
  try {
    const found = await objects.get(`/apis/plexus.dev/v1alpha1/addresspools/${poolName}`);
    const pool = found.kind === "object" ? readAddressPool(found.object) : undefined;
    if (pool?.ok !== true) throw new Error(`AddressPool ${poolName} cannot be read`);
    const taken = new Set<number>();
    const spans: AddressSpan[] = [];
    for (let gone = 0; gone < goneNodes; gone++) {
      const node = `gone-${gone}`;
      const block = candidates(pool.value, 4, node, taken).next().value;
      if (block === undefined) throw new Error("the pool has too few blocks");
      taken.add(block.index);
      spans.push(block.span);
      const claim = { pool: poolName, ...block, node, holder: "gone", freeAfterSeconds: pool.value.freeAfterSeconds };
      const made = await objects.create(addressBlocksPath, addressBlockObject(claim));
      if (made.kind !== "object") throw new Error(made.why);
    }
    return spans;
  } finally {
    objects.close();
  }
}

/** Milliseconds for all addresses of one pool. Throws if an address was handed out twice, or is in a block of another node. */
async function allocate(nodes: readonly PoolNode[], pool: string, foreign: readonly AddressSpan[]): Promise<number> {
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
  verify(addresses, nodes.length * addressesOfNode, foreign);
  return run.ms;
}

/** Throws if there are fewer addresses, if an address was handed out twice, or if it is in a block of another node. */
function verify(addresses: readonly (string | undefined)[], count: number, foreign: readonly AddressSpan[]): void {
  const distinct = new Set(addresses);
  if (distinct.size !== count || addresses.length !== count || distinct.has(undefined)) {
    throw new Error(`${addresses.length} ADDs have ${distinct.size} addresses`);
  }
  for (const text of distinct) {
    const address = readCidr(text ?? "")?.address;
    if (address === undefined || hasAddress(foreign, address)) throw new Error(`${text} is an address of a node that is gone`);
  }
}

interface Allocation {
  readonly addresses: readonly (string | undefined)[];
  /** Milliseconds of each ADD that succeeded. */
  readonly addMs: readonly number[];
  /** Numbers of tries that failed, by the error without its numbers. */
  readonly failures: ReadonlyMap<string, number>;
}

/**
 * All addresses of one pool. A runtime repeats a failed ADD after its DEL: so do the rounds, each with what the one before has left. A program in C starts the
 * calls, because a process of Node takes longer to start the shim than the shim takes.
 */
async function allocateWithRepetitions(nodes: readonly PoolNode[], pool: string): Promise<Allocation> {
  const addresses: (string | undefined)[] = [];
  const addMs: number[] = [];
  const failures = new Map<string, number>();
  const callOf = (node: PoolNode, verb: string, containerId: string): LaneCall => {
    const { config, ...request } = node.request(verb, containerId, { pool });
    const env = runtimeEnvironment(request, node.plexus.cniPath);
    return { program: join(node.plexus.cniPath, "plexus"), env, stdin: JSON.stringify(config) };
  };
  let left = nodes.map((node) => ({
    node,
    ids: Array.from({ length: addressesOfNode }, (_, index) => `${pool}-${index}`),
    verbs: ["ADD"],
  }));
  for (const deadline = Date.now() + 120_000; left.length > 0;) {
    if (Date.now() > deadline)
      throw new Error(`no address for ${left.map(({ node }) => node.name).join(", ")} within two minutes`);
    const items = left.map(({ node, ids, verbs }) => ids.flatMap((id) => verbs.map((verb) => callOf(node, verb, id))));
    const { calls } = await runLanes(items.length, items);
    left = left.flatMap(({ node, ids, verbs }, item) => {
      const adds = calls.filter((each) => each.item === item && each.call % verbs.length === verbs.length - 1);
      const failed = adds.flatMap(({ call, status, stdout, ms }) => {
        if (status === 0) {
          addMs.push(ms);
          addresses.push(/"address":\s*"([^"]+)"/u.exec(stdout)?.[1]);
          return [];
        }
        const message = stdout.replaceAll(/[0-9a-f-]{36}|bench-\d+|\d+/gu, "…").slice(0, 200);
        failures.set(message, (failures.get(message) ?? 0) + 1);
        return [ids[Math.floor(call / verbs.length)] ?? ""];
      });
      return failed.length === 0 ? [] : [{ node, ids: failed, verbs: ["DEL", "ADD"] }];
    });
  }
  return { addresses, addMs, failures };
}

/**
 * Milliseconds for all addresses of one pool, while one daemon after the other is killed and started again, and the API server once. A call that fails is
 * repeated, as a runtime does. Throws as `allocate` does.
 */
async function allocateAmidFaults(
  api: ApiServer,
  nodes: readonly PoolNode[],
  pool: string,
  foreign: readonly AddressSpan[],
): Promise<number> {
  const begun = performance.now();
  const over = new AbortController();
  const restartMs: number[] = [];
  let apiAwayMs = 0;
  const restartApi = async (): Promise<void> => {
    const stoppedAt = performance.now();
    await api.stop();
    await api.start();
    apiAwayMs = performance.now() - stoppedAt;
  };
  const faults = async (): Promise<void> => {
    let restarted: Promise<void> | undefined;
    for (let second = 0; ; second++) {
      await setTimeout(faultMs, undefined, { signal: over.signal }).catch(() => undefined);
      const node = nodes[second % nodes.length];
      if (over.signal.aborted || node === undefined) return restarted;
      const killedAt = performance.now();
      await node.kill();
      if (second === 1) restarted = restartApi();
      await node.start();
      restartMs.push(performance.now() - killedAt);
    }
  };
  let ms = 0;
  const allocating = allocateWithRepetitions(nodes, pool).finally(() => {
    ms = performance.now() - begun;
    over.abort();
  });
  const [{ addresses, addMs, failures }] = await Promise.all([allocating, faults()]);
  if (restartMs.length < 3) throw new Error(`only ${restartMs.length} daemons were killed`);
  verify(addresses, nodes.length * addressesOfNode, foreign);
  process.stderr.write(
    `${restartMs.length} daemons were killed in ${Math.round(ms)} ms; kill and start of one: median ${roundedQuantile(restartMs, 0.5)} ms, maximum ${roundedQuantile(restartMs, 1)} ms; ` +
      `the API server was away for ${Math.round(apiAwayMs)} ms; ADDs that succeeded: median ${roundedQuantile(addMs, 0.5)} ms, p95 ${roundedQuantile(addMs, 0.95)} ms, maximum ${roundedQuantile(addMs, 1)} ms\n`,
  );
  for (const [message, times] of failures) process.stderr.write(`${times} tries failed: ${message}\n`);
  return ms;
}

function roundedQuantile(values: readonly number[], q: number): number {
  return Math.round(quantile(values, q));
}

/** Milliseconds of each round, or why there is none. */
async function measureAllocate(
  count: number,
  act: (api: ApiServer, nodes: readonly PoolNode[], pool: string, foreign: readonly AddressSpan[]) => Promise<number>,
): Promise<readonly number[] | string> {
  const lacking = missingHere();
  if (lacking !== undefined) return lacking;
  const names = Array.from({ length: count }, (_, round) => `bench-${round}`);
  const pools = names.map((name, round) => poolObject(name, [{ subnet: `10.${181 + round}.0.0/19` }]));
  return withPools(pools, async (api) => {
    const nodes: PoolNode[] = [];
    try {
      // One after the other: 32 starts of Node at once would take the machine's memory.
      for (let index = 0; index < daemons; index++)
        nodes.push(await openPoolNode(`bench-${index}`, api.plexus, { sandboxes: 1 }));
      // A daemon that has served a call has its sandbox process.
      for (const node of nodes) await node.call("STATUS", "", { pool: names[0] ?? "" });
      const plexusMs: number[] = [];
      for (const name of names) plexusMs.push(await act(api, nodes, name, await claimForGone(api, name)));
      return plexusMs;
    } finally {
      for (const node of nodes) await node.dispose();
    }
  });
}

let allocated: Promise<readonly number[] | string> | undefined;

/** One measurement, for both rows. */
function allocatedMs(): Promise<readonly number[] | string> {
  allocated ??= measureAllocate(rounds, (_, ...init) => allocate(...init));
  return allocated;
}

async function sampleAllocate(): Promise<Samples | string> {
  const subject = await allocatedMs();
  return typeof subject === "string" ? subject : { subject, baseline: subject.map(() => allocateMs) };
}

async function sampleFaults(): Promise<Samples | string> {
  const subject = await measureAllocate(1, allocateAmidFaults);
  return typeof subject === "string" ? subject : { subject, baseline: subject.map(() => allocateMs) };
}

async function sampleWhereabouts(): Promise<Samples | string> {
  const lacking = missingHere() ?? realWhereabouts();
  if (lacking !== undefined) return lacking;
  const plexusMs = await allocatedMs();
  if (typeof plexusMs === "string") return plexusMs;
  const ms = await withPools([], (api) => allocateByWhereabouts(api, { nodes: daemons, addresses: addressesOfNode }));
  return typeof ms === "string" ? ms : { subject: [ms], baseline: [quantile(plexusMs, 0.5)], inRounds: true };
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
    title: `${daemons * addressesOfNode} addresses of one pool through ${daemons} daemons with one API server, none twice, beside blocks of ${goneNodes} nodes that are gone; the baseline is the bound`,
    target: "under 10 s",
    sample: sampleAllocate,
  },
  {
    id: "pool-allocate-faults",
    title:
      "the same while one daemon after the other is killed and started again, and the API server once; the baseline is the bound without faults",
    target: "no address twice",
    sample: sampleFaults,
  },
  {
    id: "pool-allocate-whereabouts",
    title: `${daemons * addressesOfNode} addresses through whereabouts on ${daemons} nodes with one API server, each ADD by the plugin itself / pool-allocate of the same run`,
    target: "none: for comparison",
    sample: sampleWhereabouts,
  },
];
