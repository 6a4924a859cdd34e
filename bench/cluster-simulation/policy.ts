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

async function simulate(): Promise<SelectedPods> {
  await using stack = new AsyncDisposableStack();
  const api = await startApiServer({ alsoAllowed: policyRequests });
  stack.defer(() => api.dispose().catch(() => undefined));
  let writes = 0;
  const objects = objectsOf(api.adminKubeconfig);
  const counted = objectsOf(api.adminKubeconfig, {
    onRequest: ({ method, path }) => {
      if (method !== "GET" && path.startsWith(slicesPath(namespace))) writes += 1;
    },
  });
  stack.defer(() => [objects, counted].forEach((each) => each.close()));
  const create = async (object: Parameters<typeof collectionOf>[0] & object): Promise<void> => {
    const made = outcome(await objects.create(collectionOf(object), object as never));
    if (typeof made === "string") throw new Error(made);
  };
  for (const file of ["policies.yaml", "multi-network-policies.yaml", "networks.yaml"])
    await applyObjects(objects, `deploy/helm/plexus/files/${file}`, "CustomResourceDefinition");
  await api.namespace(namespace);
  let term = new AbortController();
  let running = Promise.resolve();
  const begin = (): void => {
    term = new AbortController();
    running = policiesPart()(partContext(counted)).run(term.signal);
  };
  const end = async (): Promise<void> => {
    term.abort();
    await running;
  };
  const pod = (index: number): Promise<void> => {
    const address = `10.${64 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
    return create(podOn(namespace, `pod-${index}`, { app: "many" }, { [`${namespace}/red`]: [address] }));
  };
  const numbers = Array.from({ length: count }, (_, index) => index).values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const index of numbers) await pod(index);
    }),
  );
  process.stdout.write(`${count} pods are made\n`);
  const sizes = async (): Promise<readonly { readonly addresses: number; readonly bytes: number }[]> => {
    const listed = await objects.list(slicesPath(namespace));
    if (listed.kind !== "list") return [];
    return listed.items.map((item) => {
      const slice = readSlice(item);
      const addresses = slice.ok ? slice.value.endpoints.flatMap((each) => each.addresses).length : 0;
      return { addresses, bytes: JSON.stringify(item).length };
    });
  };
  /** The work until the slices have so many addresses. */
  const until = async (addresses: number, act: () => Promise<void>): Promise<PolicyWork> => {
    writes = 0;
    const [started, before] = [performance.now(), await serverMetrics(api.adminKubeconfig)];
    await act();
    while ((await sizes()).reduce((sum, each) => sum + each.addresses, 0) !== addresses) await setTimeout(250);
    const seconds = (performance.now() - started) / 1000;
    await setTimeout(2000);
    return { seconds, writes, cpuSeconds: (await serverMetrics(api.adminKubeconfig)).cpuSeconds - before.cpuSeconds };
  };
  begin();
  const from = [{ podSelector: { matchLabels: { app: "many" } } }];
  const policy = multiNetworkPolicy(namespace, "from-many", "red", { podSelector: {}, ingress: [{ from }] });
  const made = await until(count, () => create(policy));
  const slices = await sizes();
  const added = await until(count + 1, () => pod(count));
  await end();
  const restarted = await until(count + 1, async () => {
    begin();
    // Its collections are read, and nothing is to be written.
    await setTimeout(15_000);
  });
  await end();
  const bytes = slices.reduce((sum, each) => sum + each.bytes, 0);
  return {
    pods: count,
    slices: slices.length,
    bytes,
    maxBytes: Math.max(...slices.map((each) => each.bytes)),
    made,
    added,
    restarted,
  };
}

const policy = await simulate();
process.stdout.write(`${JSON.stringify(policy)}\n`);
if (values.record !== undefined) {
  const simulation = JSON.parse(readFileSync(values.record, "utf8")) as Simulation;
  writeFileSync(values.record, `${JSON.stringify({ ...simulation, policy }, null, 2)}\n`);
}
process.exit(0);
