// policies-pod0: an ADD whose pod is isolated by policies, against the same ADD without policies. policy-change: from a change of a policy's peers at the API
// until the kernel of each pod has it. policies-rss: the daemon's memory with policies, against the same pods without. A stand-in API serves the objects.

import { queriesOf } from "../features/policies/controller/stored.ts";
import { sliceName, sliceObject } from "../features/policies/rules/address-slice.ts";
import { readPolicy } from "../features/policies/rules/policy.ts";
import type { ServedObject } from "../test/lab/kube/object-collections.ts";
import { multiNetworkPolicy } from "../test/lab/kube/policy-objects.ts";
import { ElementNotices, missingForFollowedNode, namespace, network, openFollowedNode, paths, settled } from "./followed-node.ts";
import { type Benchmark, inTurns, type Samples } from "./measure.ts";
import type { ObjectChanges } from "./object-server-process.ts";
import { rssMiB } from "./observed-daemon.ts";
import { startStopwatch } from "./stopwatch.ts";

const settings = { policies: {} };
const isolated = { app: "web" };

/** The address of a peer: `index` below 65,536. */
const address = (index: number): string => `10.93.${(index >> 8) & 255}.${index & 255}`;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface MadePolicy {
  /** The slice of its peers, as `NAMESPACE/NAME`. */
  readonly slice: string;
  /** Replaces the peers. */
  readonly setPeers: (addresses: readonly string[]) => void;
}

const endpoints = (addresses: readonly string[]): readonly { readonly addresses: readonly string[] }[] =>
  addresses.map((each) => ({ addresses: [each] }));

/** Makes a policy for pods with these labels, and the slice that plexus-controller writes for its peers. */
function makePolicy(api: ObjectChanges, name: string, selected: object, peers: readonly string[]): MadePolicy {
  const spec = {
    podSelector: { matchLabels: selected },
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ from: [{ podSelector: { matchLabels: { peers: name } } }], ports: [{ port: 80 }] }],
  };
  const object = multiNetworkPolicy(namespace, name, network, spec);
  const policy = readPolicy(object, "MultiNetworkPolicy");
  const [query] = policy === undefined ? [] : [...queriesOf(policy)];
  if (query === undefined) throw new Error(`policy ${name} asks for no peers`);
  const [id, asked] = query;
  api.put(paths.policies, object as ServedObject);
  const slice = sliceObject(namespace, id, sliceName(id, 0), asked, endpoints(peers));
  api.put(paths.addressSlices, slice as ServedObject);
  const key = `${namespace}/${sliceName(id, 0)}`;
  return {
    slice: key,
    setPeers: (addresses) => api.change(paths.addressSlices, key, { spec: { endpoints: endpoints(addresses) } }),
  };
}

/** Makes policies with `peers` peers each. */
function makePolicies(api: ObjectChanges, count: number, peers: number): void {
  for (let index = 0; index < count; index++) {
    const addresses = Array.from({ length: peers }, (_, peer) => address(index * peers + peer));
    makePolicy(api, `policy-${index}`, isolated, addresses);
  }
}

const onPod = { policies: 20, peers: 25 };

async function measurePod(): Promise<Samples | string> {
  const lacking = missingForFollowedNode();
  if (lacking !== undefined) return lacking;
  const node = await openFollowedNode(["polbench0", "polbench1"]);
  const stopwatch = startStopwatch();
  try {
    makePolicies(node.api, onPod.policies, onPod.peers);
    const pods = { with: node.pod("with", isolated), without: node.pod("without", isolated) };
    await node.api.takeWrites();
    let containers = 0;
    const addOf = async (side: keyof typeof pods): Promise<number> => {
      const pod = pods[side];
      const own = side === "with" ? settings : {};
      const run = (verb: "ADD" | "DEL", id: string): Promise<{ readonly ms: number; readonly stdout: string }> => {
        const { program, env, stdin } = node.call(verb, pod, id, own);
        return stopwatch.run({ argv: [program], env, stdin });
      };
      const id = `${side}-${containers++}`;
      const added = await run("ADD", id);
      const listed = pod.netns.exec(["nft", "-nn", "list", "tables"]).stdout;
      if (listed.includes("plexus-policies") !== (side === "with")) throw new Error(`pod ${side} has the tables ${listed}`);
      await run("DEL", id);
      pod.netns.exec(["nft", "flush", "ruleset"]);
      return added.ms;
    };
    return await inTurns({ subject: () => addOf("with"), baseline: () => addOf("without"), warmUp: 15, samples: 100 });
  } finally {
    await stopwatch.dispose();
    await node.dispose();
  }
}

const many = { pods: 1_000, monitored: 32, samples: 20 };

/** Pods whose kernel is watched: at equal distances, and the last ones. */
function monitored(count: number): readonly number[] {
  const step = Math.floor(count / many.monitored);
  return [...new Set([...Array.from({ length: many.monitored }, (_, index) => index * step), count - 3, count - 2, count - 1])];
}

async function measureChange(): Promise<Samples | string> {
  const lacking = missingForFollowedNode();
  if (lacking !== undefined) return lacking;
  const node = await openFollowedNode(["polbench2", "polbench3"]);
  let notices: ElementNotices | undefined;
  try {
    const common = makePolicy(node.api, "common", isolated, [address(1)]);
    const single = makePolicy(node.api, "single", { number: "0" }, [address(2)]);
    const pods = Array.from({ length: many.pods }, (_, index) =>
      node.pod(`pod-${String(index).padStart(5, "0")}`, { ...isolated, number: String(index) }),
    );
    await node.attach(pods, settings);
    await settled(node);
    const watched = monitored(pods.length);
    const monitors = new ElementNotices(watched.flatMap((index) => pods[index] ?? []));
    notices = monitors;
    let peer = 60_000;
    await monitors.begin(async () => {
      const added = address((peer += 1));
      common.setPeers([added]);
      return added;
    });
    const change = async (policy: MadePolicy, indexes?: readonly number[]): Promise<number> => {
      // Batches of a namespace come 5 times a second: a change after a pause waits for none of them.
      await wait(1_000);
      const added = address((peer += 1));
      const began = performance.now();
      policy.setPeers([added]);
      await monitors.all(added, indexes);
      const ms = performance.now() - began;
      await settled(node);
      return ms;
    };
    const subject = (): Promise<number> => change(common);
    return await inTurns({ subject, baseline: () => change(single, [0]), warmUp: 2, samples: many.samples });
  } finally {
    await notices?.stop();
    await node.dispose();
  }
}

const memory = { policies: 200, peers: 25, pods: 50, maxMiB: 10 };

async function memoryWith(hasPolicies: boolean, bridges: readonly [string, string]): Promise<number> {
  const node = await openFollowedNode(bridges);
  try {
    if (hasPolicies) makePolicies(node.api, memory.policies, memory.peers);
    const pods = Array.from({ length: memory.pods }, (_, index) => node.pod(`pod-${index}`, isolated));
    await node.attach(pods, hasPolicies ? settings : {});
    await settled(node);
    const looks: number[] = [];
    for (let look = 0; look < 5; look++) {
      await wait(1_000);
      looks.push(rssMiB(node.daemon.pid));
    }
    return looks.toSorted((one, other) => one - other)[2] ?? Number.NaN;
  } finally {
    await node.dispose();
  }
}

async function measureMemory(): Promise<Samples | string> {
  const lacking = missingForFollowedNode();
  if (lacking !== undefined) return lacking;
  const baseline = [await memoryWith(false, ["polbench4", "polbench5"])];
  return { subject: [await memoryWith(true, ["polbench6", "polbench7"])], baseline };
}

const { policies, peers } = onPod;

/** `policies-pod0`, `policy-change`, `policies-rss`. */
export const policyBenchmarks: readonly Benchmark[] = [
  {
    id: "policies-pod0",
    title: `ADD of a pod on a further network with ${policies} policies of ${peers} peers each, against the same pod without the key policies`,
    target: "median at most 1.5 ms above",
    difference: true,
    sample: measurePod,
  },
  {
    id: "policy-change",
    title: `from a change of a policy's peers at the API until the kernel of ${many.pods} pods has it, against a policy of one of these pods`,
    target: "none of its own",
    sample: measureChange,
  },
  {
    id: "policies-rss",
    title: `RSS of the daemon with ${memory.pods} pods and ${memory.policies} policies of ${memory.peers} peers each, against the same pods without the key policies`,
    target: `at most ${memory.maxMiB} MiB above`,
    unit: "MiB",
    difference: true,
    sample: measureMemory,
  },
];
