// Pods of the tests of faults: they select a further network, and their events say what failed.

import { expect } from "vitest";

import type { Cluster } from "./cluster.ts";
import { toolsPod } from "./pods.ts";
import { explained } from "./release.ts";

export const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";

/** A pod with the network `storage` of release.ts as `data0`. It ends one second after its deletion. */
export function selectingPod(name: string, node?: string): object {
  return toolsPod(name, {
    ...(node === undefined ? {} : { node }),
    annotations: { "k8s.v1.cni.cncf.io/networks": "storage@data0" },
    spec: { terminationGracePeriodSeconds: 1 },
  });
}

/** Makes pods and waits until they are ready with both networks and their status. Throws with logs and events. */
export async function startPods(cluster: Cluster, names: readonly string[], node?: string): Promise<void> {
  await cluster.apply(...names.map((name) => selectingPod(name, node)));
  await readyPods(cluster, names);
}

/** Waits until pods are ready with both networks, and their status has the addresses that they have. */
export async function readyPods(cluster: Cluster, names: readonly string[], seconds = 120): Promise<void> {
  const paths = names.map((name) => `pod/${name}`);
  // A mirror pod is made some time after its file.
  await cluster.succeed("wait", "--for=create", `--timeout=${seconds}s`, ...paths);
  await cluster.succeed("wait", "--for=condition=Ready", `--timeout=${seconds}s`, ...paths).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
  });
  for (const name of names) await connected(cluster, name);
}

/** Asserts that a running pod has both networks, with the addresses of its status. */
export async function connected(cluster: Cluster, name: string): Promise<void> {
  const pod = await cluster.core.readNamespacedPod({ namespace: "default", name });
  const address = await cluster.succeed("exec", name, "--", "ip", "-o", "-4", "address", "show", "dev", "data0");
  const [, data0 = "none"] = / (10\.20\.0\.\d+)\/24 /.exec(address) ?? [];
  expect(JSON.parse(pod.metadata?.annotations?.[statusAnnotation] ?? "[]")).toMatchObject([
    { name: "pods", interface: "eth0", ips: [pod.status?.podIP] },
    { name: "default/storage", interface: "data0", ips: [data0] },
  ]);
}

/** The messages of a pod's Events with this reason. */
export async function eventsOf(cluster: Cluster, pod: string, reason: string, namespace = "default"): Promise<string> {
  const fieldSelector = `involvedObject.name=${pod},reason=${reason}`;
  const { items } = await cluster.core.listNamespacedEvent({ namespace, fieldSelector });
  return items.map(({ message }) => message ?? "").join("\n");
}

/** The name of Plexus' pod on a node that is not being deleted. Throws if there is none. */
export async function plexusPodOn(cluster: Cluster, node: string): Promise<string> {
  const labelSelector = "app.kubernetes.io/name=plexus";
  const { items } = await cluster.core.listNamespacedPod({ namespace: "kube-system", labelSelector });
  const pod = items.find(({ spec, metadata }) => spec?.nodeName === node && metadata?.deletionTimestamp === undefined);
  if (pod?.metadata?.name === undefined) throw new Error(`no pod of Plexus on ${node}`);
  return pod.metadata.name;
}

/** Deletes pods and waits for their end. Answers the milliseconds. */
export async function deletePods(cluster: Cluster, names: readonly string[], seconds = 90): Promise<number> {
  const started = performance.now();
  await cluster.succeed("delete", ...names.map((name) => `pod/${name}`), `--timeout=${seconds}s`);
  return Math.round(performance.now() - started);
}
