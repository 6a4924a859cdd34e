// The pods of scenarios of policies on a cluster: made once, with other labels and policies for each scenario.

import { PatchStrategy } from "@kubernetes/client-node";

import {
  isolatedDirections,
  type PodPolicies,
  policyTablesKind,
  policyTablesPath,
} from "../../../features/policies/rules/table-report.ts";
import { readNodeTables } from "../../../src/kube/node-tables.ts";
import { httpRequest } from "../http-request.ts";
import { type ReachServer, startReachServer } from "../policies/reach-server.ts";
import {
  addressesOf,
  type Cast,
  castOf,
  namespaces,
  networks,
  type Place,
  places,
  policiesOf,
  type Scenario,
  tableOf,
} from "../policies/scenario.ts";
import type { Cluster } from "./cluster.ts";
import { toolsPod } from "./pods.ts";

/** The isolated directions of each pod, as `namespace/name`. */
export type IsolatedPods = Readonly<Record<string, PodPolicies["isolated"]>>;

const podName = ({ namespace, name }: Place): string => `${namespace}/${name}`;

/** Makes namespaces, definitions and pods, and starts a server in each pod. Answers the servers by place. */
export async function startScenarioPods(cluster: Cluster): Promise<readonly ReachServer[]> {
  const made = Object.keys(namespaces);
  await cluster.apply(
    ...Object.entries(namespaces).map(([name, labels]) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } })),
  );
  for (const namespace of made)
    await cluster.succeed("-n", namespace, "wait", "--for=create", "--timeout=120s", "serviceaccount/default");
  await cluster.apply(...networks.map(({ name }) => definition(name)), ...places.map(scenarioPod));
  for (const namespace of made)
    await cluster.succeed("-n", namespace, "wait", "--for=condition=Ready", "--timeout=120s", "pods", "--all");
  const [node] = cluster.nodes;
  const script = "for each in /run/netns/*; do echo $each $(nsenter --net=$each ip -4 -o address show net1 2>/dev/null); done";
  const listed = node.run(["sh", "-c", script]).stdout.split("\n");
  const [red] = networks;
  return Promise.all(
    places.map((place) => {
      const line = listed.find((each) => each.includes(` ${addressesOf(place, red)[0]}/`));
      if (line === undefined) throw new Error(`no network namespace of ${podName(place)}: ${listed.join("\n")}`);
      return startReachServer(node.on(line.slice(0, line.indexOf(" "))));
    }),
  );
}

/** Removes what `startScenarioPods` made. */
export async function removeScenarioPods(cluster: Cluster): Promise<void> {
  await cluster.succeed("delete", "namespace", ...Object.keys(namespaces), "--timeout=120s");
  for (const { name } of networks) cluster.nodes[0].exec(["ip", "link", "delete", bridgeOf(name)]);
}

/** Gives the pods the labels of a scenario, and replaces all policies by its own. Answers the cast. */
export async function playScenario(cluster: Cluster, scenario: Scenario, prefix: string): Promise<readonly Cast[]> {
  const cast = castOf(scenario);
  const { objects } = cluster;
  const labelled = cast.map(({ place: { namespace, name }, labels }) => {
    const cleared = Object.fromEntries(labelKeys.map((key) => [key, null]));
    // A null removes a label; the client's types have no null.
    const patch = { apiVersion: "v1", kind: "Pod", metadata: { namespace, name, labels: { ...cleared, ...labels } as never } };
    return objects.patch(patch, undefined, undefined, undefined, undefined, PatchStrategy.MergePatch);
  });
  await Promise.all(labelled);
  const { items } = await objects.list("k8s.cni.cncf.io/v1beta1", "MultiNetworkPolicy", "shop");
  const added = policiesOf(scenario, prefix).map((each) => objects.create(each));
  await Promise.all([...items.map((each) => objects.delete(each)), ...added]);
  return cast;
}

/** All labels of scenarios. */
const labelKeys = ["name", "role", "tier", "pod"];

/** The isolated interfaces that a scenario demands of the node's tables. */
export function demandedTables(scenario: Scenario, prefix: string): IsolatedPods {
  const cast = castOf(scenario);
  const policies = policiesOf(scenario, prefix);
  return Object.fromEntries(
    cast.map((each) => {
      const table = tableOf(policies, cast, each);
      return [podName(each.place), table === undefined ? [] : isolatedDirections(table)];
    }),
  );
}

/** The isolated interfaces of the node's tables, as the daemon reports them. */
export async function reportedTables({ nodes: [node] }: Cluster): Promise<IsolatedPods> {
  const { body } = await httpRequest(node.on("/run/plexus/status.sock"), policyTablesPath);
  const report = readNodeTables<PodPolicies>(body, policyTablesKind, ({ isolated }) => Array.isArray(isolated));
  const known = new Map(report?.pods.map(({ pod, isolated }) => [pod, isolated]));
  return Object.fromEntries(places.map((place) => [podName(place), known.get(podName(place)) ?? []]));
}

const bridgeOf = (network: string): string => `br-${network}`;

function definition(name: string): object {
  const bridge = { type: "bridge", bridge: bridgeOf(name), capabilities: { ips: true }, ipam: { type: "static" } };
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { namespace: "shop", name },
    spec: { config: JSON.stringify({ cniVersion: "1.0.0", name, plugins: [bridge] }) },
  };
}

function scenarioPod(place: Place): object {
  const selections = networks.map((network) => {
    const [v4, v6] = addressesOf(place, network);
    return { name: network.name, namespace: "shop", ips: [`${v4}/24`, `${v6}/64`] };
  });
  return toolsPod(place.name, {
    namespace: place.namespace,
    annotations: { "k8s.v1.cni.cncf.io/networks": JSON.stringify(selections) },
    spec: { terminationGracePeriodSeconds: 1 },
  });
}
