// A policy that selects many pods, with a real API server, etcd and plexus-controller's part for policies. An engineer runs it by hand, in private namespaces
// (npm run shell):
//
//   node bench/cluster-simulation/policy.ts --pods 20000 --record docs/reference/cluster-simulation.json
//
// Counts the slices that the controller writes, its requests and their bytes: for the policy, for one new pod, and for a controller that starts again.

import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { policiesPart } from "../../features/policies/controller/part.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { readSlice, slicesPath } from "../../features/policies/rules/address-slice.ts";
import { collectionOf, applyObjects, objectsOf, outcome } from "../../test/lab/kube/apply.ts";
import { startApiServer } from "../../test/lab/kube/api-server.ts";
import { partContext } from "../../test/lab/kube/part-context.ts";
import { multiNetworkPolicy, podOn, policyRequests } from "../../test/lab/kube/policy-objects.ts";
import { serverMetrics } from "./server-metrics.ts";
import type { PolicyWork, SelectedPods, Simulation } from "./simulation.ts";

const { values } = parseArgs({ options: { pods: { type: "string", default: "20000" }, record: { type: "string" } } });
const namespace = "shop";
const count = Number(values.pods);

/** The sizes of the slices that the API has now. */
async function slicesOf(objects: ApiObjects): Promise<readonly { readonly addresses: number; readonly bytes: number }[]> {
  const listed = await objects.list(slicesPath(namespace));
  if (listed.kind !== "list") return [];
  return listed.items.map((item) => {
    const slice = readSlice(item);
    const addresses = slice.ok ? slice.value.endpoints.flatMap((each) => each.addresses).length : 0;
    return { addresses, bytes: JSON.stringify(item).length };
  });
}

/** Creates an object. Throws the server's refusal. */
async function create(objects: ApiObjects, object: Parameters<typeof collectionOf>[0] & object): Promise<void> {
  const made = outcome(await objects.create(collectionOf(object), object as never));
  if (typeof made === "string") throw new Error(made);
}

function createPod(objects: ApiObjects, index: number): Promise<void> {
  const address = `10.${64 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  return create(objects, podOn(namespace, `pod-${index}`, { app: "many" }, { [`${namespace}/red`]: [address] }));
}

/** plexus-controller's part for policies, whose writes of slices are counted. */
class CountedController {
  writes = 0;
  readonly objects: ApiObjects;
  #term = new AbortController();
  #running = Promise.resolve();

  constructor(kubeconfig: string) {
    this.objects = objectsOf(kubeconfig, {
      onRequest: ({ method, path }) => {
        if (method !== "GET" && path.startsWith(slicesPath(namespace))) this.writes += 1;
      },
    });
  }

  begin(): void {
    this.#term = new AbortController();
    this.#running = policiesPart()(partContext(this.objects)).run(this.#term.signal);
  }

  async end(): Promise<void> {
    this.#term.abort();
    await this.#running;
  }
}

async function simulate(): Promise<SelectedPods> {
  await using stack = new AsyncDisposableStack();
  const api = await startApiServer({ alsoAllowed: policyRequests });
  stack.defer(() => api.dispose().catch(() => undefined));
  const objects = objectsOf(api.adminKubeconfig);
  const controller = new CountedController(api.adminKubeconfig);
  stack.defer(() => [objects, controller.objects].forEach((each) => each.close()));
  for (const file of ["policies.yaml", "multi-network-policies.yaml", "networks.yaml"])
    await applyObjects(objects, `deploy/helm/plexus/files/${file}`, "CustomResourceDefinition");
  await api.namespace(namespace);
  const numbers = Array.from({ length: count }, (_, index) => index).values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const index of numbers) await createPod(objects, index);
    }),
  );
  process.stdout.write(`${count} pods are made\n`);
  /** The work until the slices have so many addresses. */
  const until = async (addresses: number, act: () => Promise<void>): Promise<PolicyWork> => {
    controller.writes = 0;
    const [started, before] = [performance.now(), await serverMetrics(api.adminKubeconfig)];
    await act();
    while ((await slicesOf(objects)).reduce((sum, each) => sum + each.addresses, 0) !== addresses) await setTimeout(250);
    const seconds = (performance.now() - started) / 1000;
    await setTimeout(2000);
    const cpuSeconds = (await serverMetrics(api.adminKubeconfig)).cpuSeconds - before.cpuSeconds;
    return { seconds, writes: controller.writes, cpuSeconds };
  };
  controller.begin();
  const from = [{ podSelector: { matchLabels: { app: "many" } } }];
  const policy = multiNetworkPolicy(namespace, "from-many", "red", { podSelector: {}, ingress: [{ from }] });
  const made = await until(count, () => create(objects, policy));
  const slices = await slicesOf(objects);
  const added = await until(count + 1, () => createPod(objects, count));
  await controller.end();
  const restarted = await until(count + 1, async () => {
    controller.begin();
    // Its collections are read, and nothing is to be written.
    await setTimeout(15_000);
  });
  await controller.end();
  const sizes = slices.map(({ bytes }) => bytes);
  const bytes = sizes.reduce((sum, each) => sum + each, 0);
  return { pods: count, slices: slices.length, bytes, maxBytes: Math.max(...sizes), made, added, restarted };
}

const policy = await simulate();
process.stdout.write(`${JSON.stringify(policy)}\n`);
if (values.record !== undefined) {
  const simulation = JSON.parse(readFileSync(values.record, "utf8")) as Simulation;
  writeFileSync(values.record, `${JSON.stringify({ ...simulation, policy }, null, 2)}\n`);
}
process.exit(0);
