// Light daemons: the real sources of pods and definitions (DaemonClusters) and the real pools (NodePools) of many nodes in one process, without kernel and
// sandbox. Arguments: the kubeconfig, the number of the first node, the count of nodes, a directory. A line `restart` on stdin closes and opens all of them; a
// line `claim POOL` lets each node claim a block of a pool, then one ahead; `look POOL` opens the pools of each node as its next daemon does; `search POOL` lets
// each node search once for blocks that it does not know. Writes a line of JSON each 250 ms.

import { createInterface } from "node:readline";
import { argv } from "node:process";
import { join } from "node:path";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { BlockApi } from "../../features/pools/api/block-api.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, type Result } from "../../src/fault/result.ts";
import { NodePools } from "../../features/pools/leases/node-pools.ts";
import type { PoolAccess } from "../../features/pools/leases/pool-access.ts";
import { PoolDirectory } from "../../features/pools/leases/pool-directory.ts";
import { poolSpans } from "../../features/pools/rules/pool-blocks.ts";
import { readAddressPool } from "../../features/pools/rules/address-pool.ts";
import { objectsOf } from "../../test/lab/kube/apply.ts";
import { DaemonClusters } from "../../host/programs/plexusd/daemon-clusters.ts";
import { systemClock } from "../../host/system/clock.ts";

/** The state of the daemons of one process. */
export interface ClientsState {
  /** Daemons whose watches of pods and of definitions are open. */
  readonly live: number;
  /** Rounds of starts so far. */
  readonly rounds: number;
  /** Objects in memory, of all daemons. */
  readonly objects: number;
  readonly lists: number;
  /** Changes of pods that the daemons were told of. */
  readonly podChanges: number;
  /** Lists and watches that failed or were silent for too long, and that began again. */
  readonly warnings: number;
  /** Works of all nodes that have ended. */
  readonly works: number;
  readonly rssMiB: number;
}

const [, , kubeconfig = "", from = "0", count = "0", directory = ""] = argv;
/** Starts at once, as far as one process stands for many nodes. */
const atOnce = 50;
let podChanges = 0;
let warnings = 0;
let rounds = 0;
let works = 0;
let daemons: readonly DaemonClusters[] = [];

const onPod = (): void => void (podChanges += 1);

function open(): void {
  daemons = Array.from({ length: Number(count) }, (_, index) => {
    const nodeName = `node-${Number(from) + index}`;
    return new DaemonClusters({ nodeName, kubeconfig }, systemClock, () => void (warnings += 1), { onPod });
  });
}

async function start(): Promise<void> {
  open();
  for (let at = 0; at < daemons.length; at += atOnce)
    await Promise.all(daemons.slice(at, at + atOnce).map((each) => each.start()));
  rounds += 1;
}

function state(): ClientsState {
  const states = daemons.flatMap((daemon) => daemon.informers.map(({ states: of }) => [...of.pods, ...of.definitions]));
  const sum = (of: (each: (typeof states)[number][number]) => number): number =>
    states.flat().reduce((all, each) => all + of(each), 0);
  return {
    live: states.filter((each) => each.length === 2 && each.every(({ live }) => live)).length,
    rounds,
    objects: sum(({ objects }) => objects),
    lists: sum(({ lists }) => lists),
    podChanges,
    warnings,
    works,
    rssMiB: process.memoryUsage().rss / 2 ** 20,
  };
}

/** Works for each node, for 16 nodes at once. */
async function eachNode(work: (index: number, objects: ApiObjects) => Promise<void>): Promise<void> {
  const objects = objectsOf(kubeconfig);
  const next = Array.from({ length: Number(count) }, (_, index) => Number(from) + index).values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const index of next) await work(index, objects);
    }),
  );
  objects.close();
  works += 1;
}

/** Maximum tries of a request that the server does not answer in time. */
const maxTries = 50;

/** The value of a request that is sent again until the server answers, as a daemon sends it at its next call. Each repetition counts as a warning. */
async function answered<T>(ask: () => Promise<Result<T>>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const answer = await ask();
    if (answer.ok) return answer.value;
    if (tries === maxTries) throw new Error(answer.fault.msg);
    warnings += 1;
  }
}

/** The pools of a node whose daemon starts now, and which then knows its blocks. */
async function opened(
  index: number,
  name: string,
  objects: ApiObjects,
): Promise<{ readonly pools: NodePools; readonly access: PoolAccess }> {
  const api = new BlockApi(objects);
  const pools = new NodePools({
    directory: new PoolDirectory(join(directory, name, String(index))),
    nodeName: `node-${index}`,
    api: async () => api,
    event: () => undefined,
    now: () => ({ monotonicMs: systemClock.now(), wallMs: Date.now() }),
    warn: () => void (warnings += 1),
  });
  const access = await answered(() => pools.open(name));
  await answered(() => access.ready());
  return { pools, access };
}

/** Each node claims a block of the pool, and a second one, as a node does whose first one is nearly used. */
const claim = (name: string): Promise<void> =>
  eachNode(async (index, objects) => {
    const { pools, access } = await opened(index, name, objects);
    const pool = await answered(async () => {
      const found = await objects.get(`/apis/plexus.dev/v1alpha1/addresspools/${name}`);
      const read = found.kind === "object" ? readAddressPool(found.object) : undefined;
      return read?.ok === true ? read : failed(fault("POOL_UNAVAILABLE", `${name} cannot be read`));
    });
    // A kubelet repeats an ADD that got no address in time.
    for (let block = 0; block < 2; block++) await answered(() => access.claim(poolSpans(pool, 4)));
    pools.close();
  });

/** The daemon of each node starts again. */
const look = (name: string): Promise<void> =>
  eachNode(async (index, objects) => {
    const { pools, access } = await opened(index, name, objects);
    if (access.usable().length === 0) throw new Error(`node-${index} has lost its blocks`);
    pools.close();
  });

/** The search of each node, which a daemon makes once an hour. */
const search = (): Promise<void> =>
  eachNode(async (index, objects) => {
    await answered(() => new BlockApi(objects).blocksOfNode(`node-${index}`, "from the cache"));
  });

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line.startsWith("claim ")) void claim(line.slice("claim ".length));
  if (line.startsWith("look ")) void look(line.slice("look ".length));
  if (line.startsWith("search ")) void search();
  if (line === "restart") void Promise.all(daemons.map((each) => each.close())).then(start);
});
setInterval(() => process.stdout.write(`${JSON.stringify(state())}\n`), 250);
await start();
