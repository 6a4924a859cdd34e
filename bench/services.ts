// service-endpoint-change: from a pod's readiness at the API until the kernel of each local pod of the network has it as an endpoint. services-100-nodes and
// services-rss: plexus-controller with 10,000 Services and 60,000 pods on further networks, and the watches of 100 nodes. A stand-in API serves the objects.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type TestController, startController } from "../test/lab/controller.ts";
import { ElementNotices, missingForFollowedNode, namespace, network, openFollowedNode, paths, settled } from "./followed-node.ts";
import { type Benchmark, memoryRows, type Samples } from "./measure.ts";
import { startObjectServerProcess } from "./object-server-process.ts";
import { highestRssMiB, rssMiB } from "./observed-daemon.ts";
import { clusterOf, endpointPod, setReady, startNodes } from "./service-cluster.ts";
import { missingBuild } from "../test/lab/plexus.ts";

/** ms and MiB, of issue 34. */
const [maxChangeMs, maxMiB] = [500, 200];
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what}: not after 300 s`);
    await wait(200);
  }
}

const startsController = (kubeconfig: string): Promise<TestController> =>
  startController({ identity: "bench", kubeconfig, leaseSeconds: 15, args: ["--network-services"] });

const local = { pods: 100, endpoints: 10, samples: 30 };

async function measureChange(): Promise<Samples | string> {
  const lacking = missingForFollowedNode();
  if (lacking !== undefined) return lacking;
  const node = await openFollowedNode(["svcbench0", "svcbench1"]);
  const controller = await startsController(node.api.kubeconfig);
  let notices: ElementNotices | undefined;
  try {
    const annotations = { "plexus.dev/network": network, "plexus.dev/selector": "app=server" };
    const addresses = { clusterIP: "10.96.0.10", clusterIPs: ["10.96.0.10"], ipFamilies: ["IPv4"] };
    node.api.put(paths.services, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace, name: "web", annotations },
      spec: { type: "ClusterIP", ...addresses, ports: [{ port: 80, targetPort: 8080, protocol: "TCP" }] },
    });
    // A pod whose node is gone is no endpoint.
    node.api.put(paths.nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "other" } });
    for (let index = 0; index < local.endpoints; index++) {
      const pod = { namespace, name: `server-${index}`, app: "server", node: "other" };
      node.api.put(paths.pods, endpointPod({ ...pod, addresses: { [network]: `10.93.200.${index + 1}` } }));
    }
    const pods = Array.from({ length: local.pods }, (_, index) => node.pod(`client-${index}`, { app: "client" }));
    await node.attach(pods, { services: true });
    const monitors = new ElementNotices(pods);
    notices = monitors;
    const key = `${namespace}/server-0`;
    const change = async (): Promise<string> => {
      setReady(node.api, key, false);
      await wait(1_500);
      // A pod that still has the endpoint would get no new element.
      await settled(node);
      monitors.clear();
      setReady(node.api, key, true);
      return "10.93.200.1 ";
    };
    await monitors.begin(change);
    const samples: number[] = [];
    for (let turn = 0; turn < local.samples; turn++) {
      const text = await change();
      const began = performance.now();
      await monitors.all(text);
      samples.push(performance.now() - began);
      await wait(500);
    }
    return { subject: samples, baseline: samples.map(() => maxChangeMs) };
  } finally {
    await notices?.stop();
    await controller.kill();
    await node.dispose();
  }
}

const large = { namespaces: 40, networks: 200, services: 10_000, pods: 60_000, nodes: 100 };
const turns = { samples: 20, warmUp: 2 };

interface Simulated {
  readonly changes: readonly number[];
  readonly now: number;
  readonly highest: number;
}

/** The whole cluster: the controller's own process, and the watches of all nodes in another one. */
async function simulate(): Promise<Simulated | string> {
  const lacking = missingBuild();
  if (lacking !== undefined) return lacking;
  const directory = mkdtempSync(join(tmpdir(), "plexus-bench-services-"));
  const api = await startObjectServerProcess(directory, Object.values(paths));
  const cluster = clusterOf(large);
  cluster.fill(api);
  await api.takeWrites();
  const controller = await startsController(api.kubeconfig);
  const nodes = startNodes({ kubeconfig: api.kubeconfig, count: large.nodes, networks: cluster.networksOfNode });
  try {
    const all = new RegExp(`^plexus_controller_watch_objects\\{collection="pods of services"\\} ${large.pods}$`, "m");
    await until("the list of all pods", async () => all.test((await controller.page("/metrics")).body));
    await nodes.listed();
    await wait(5_000);
    // The slices were there: a controller that begins writes none of them.
    const first = await api.takeWrites();
    if (first.length > 0) throw new Error(`${first.length} writes without a change, such as ${JSON.stringify(first[0])}`);
    const looks: number[] = [];
    for (let look = 0; look < 5; look++) {
      await wait(1_000);
      looks.push(rssMiB(controller.pid));
    }
    const changes: number[] = [];
    for (let turn = 0; turn < turns.warmUp + turns.samples; turn++) {
      await wait(500);
      const { key, address, services } = cluster.pod(turn);
      setReady(api, key, false);
      await nodes.all(address, false);
      await wait(500);
      await api.takeWrites();
      const began = performance.now();
      setReady(api, key, true);
      await nodes.all(address, true);
      const ms = performance.now() - began;
      await wait(300);
      const sent = (await api.takeWrites()).map(({ method, path }) => `${method} ${path}`);
      if (sent.length !== services || sent.some((each) => !each.startsWith("PATCH "))) {
        throw new Error(`a change of a pod of ${services} Services caused the writes ${sent.join(", ")}`);
      }
      if (turn >= turns.warmUp) changes.push(ms);
    }
    const now = looks.toSorted((one, other) => one - other)[2] ?? Number.NaN;
    return { changes, now, highest: highestRssMiB(controller.pid) };
  } finally {
    await nodes.stop();
    await controller.kill();
    await api.dispose();
    rmSync(directory, { recursive: true, force: true });
  }
}

let simulated: Promise<Simulated | string> | undefined;
const simulation = (): Promise<Simulated | string> => (simulated ??= simulate());
const row = memoryRows(simulation);
const size = `${large.services.toLocaleString("en")} Services and ${large.pods.toLocaleString("en")} pods on ${large.networks} further networks`;

/** `service-endpoint-change`, `services-100-nodes`, `services-rss`, `services-rss-peak`. */
export const serviceBenchmarks: readonly Benchmark[] = [
  {
    id: "service-endpoint-change",
    title: `from a pod's readiness at the API, through plexus-controller and a daemon, until the kernel of ${local.pods} local pods has the endpoint / its bound`,
    target: `median at most ${maxChangeMs} ms`,
    sample: measureChange,
  },
  {
    id: "services-100-nodes",
    title: `simulation: from a pod's readiness until ${large.nodes} nodes balance it, with ${size}, one PATCH for each slice / its bound`,
    target: `median at most ${maxChangeMs} ms`,
    async sample(): Promise<Samples | string> {
      const taken = await simulation();
      return typeof taken === "string" ? taken : { subject: taken.changes, baseline: taken.changes.map(() => maxChangeMs) };
    },
  },
  row("services-rss", `RSS of plexus-controller with ${size} / its bound`, `at most ${maxMiB} MiB`, ({ now }) => ({
    subject: [now],
    baseline: [maxMiB],
  })),
  row(
    "services-rss-peak",
    "maximum RSS of plexus-controller in the same run / the same bound",
    "none of its own",
    ({ highest }) => ({
      subject: [highest],
      baseline: [maxMiB],
    }),
  ),
];
