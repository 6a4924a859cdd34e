// The steps of the tests beside other programs on a node: pods with two networks, hot-plug, restarts, and what is left.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import type { Cluster } from "../cluster/cluster.ts";
import { statusAnnotation } from "../cluster/fault-pods.ts";
import { toolsImage } from "../cluster/images.ts";
import type { ClusterNode } from "../cluster/node.ts";
import { toolsPod } from "../cluster/pods.ts";
import { explained } from "../cluster/release.ts";

/** The settings of the chart for these tests: hot-plug is on. */
export const chartSettings = ["--set", "config.hotPlug=true"] as const;

/** The selection of the further network `storage`. */
export const selected = { "k8s.v1.cni.cncf.io/networks": "storage@data0" };

/** The names of ten pods. */
export const tenPods: readonly string[] = Array.from({ length: 10 }, (_, index) => `pod-${index}`);

/** For `expect.poll` on a busy machine. */
export const patient = { timeout: 120_000, interval: 500 };

/** A pod with the network `storage` as `data0`, which ends one second after its deletion. */
export function besidePod(name: string, spec: object = {}, annotations: Readonly<Record<string, string>> = {}): object {
  return toolsPod(name, { annotations: { ...selected, ...annotations }, spec: { terminationGracePeriodSeconds: 1, ...spec } });
}

/** Waits until the pods are ready, and have both networks. Throws with logs and events. */
export async function ready(cluster: Cluster, names: readonly string[]): Promise<void> {
  const paths = names.map((name) => `pod/${name}`);
  await cluster.succeed("wait", "--for=condition=Ready", "--timeout=240s", ...paths).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
  });
}

/** Asserts that a pod has both networks, with the addresses of its status and of the kubelet. */
export async function connected(cluster: Cluster, name: string): Promise<void> {
  const { metadata, status } = await cluster.core.readNamespacedPod({ namespace: "default", name });
  const networks = JSON.parse(metadata?.annotations?.[statusAnnotation] ?? "[]");
  expect(networks).toMatchObject([
    { ips: [status?.podIP], default: true },
    { name: "default/storage", interface: "data0" },
  ]);
  expect(await addresses(cluster, name)).toContain(` ${networks[1].ips[0]}/24 `);
}

/** `ip -o -4 address` in the container `main` of a pod. */
export async function addresses(cluster: Cluster, name: string): Promise<string> {
  return cluster.succeed("exec", name, "-c", "main", "--", "ip", "-o", "-4", "address", "show");
}

/** The interfaces that `hotPlugged` sees. */
export const hotPlugging = { attached: ["data0", "data1", "eth0"], detached: ["data0", "eth0"] };

/** Attaches a further network as `data1` to the running pod and detaches it again. Answers the pod's interfaces after both changes. */
export async function hotPlugged(cluster: Cluster, name: string): Promise<typeof hotPlugging> {
  const annotate = async (networks: string): Promise<void> =>
    void (await cluster.succeed("annotate", "pod", name, "--overwrite", `k8s.v1.cni.cncf.io/networks=${networks}`));
  const interfaces = async (): Promise<string[]> => {
    const listed = (await addresses(cluster, name)).matchAll(/^\d+: (\S+) /gmu);
    return [...listed].flatMap(([, link = ""]) => (link === "lo" ? [] : [link])).toSorted();
  };
  await annotate("storage@data0,storage@data1");
  await expect.poll(interfaces, patient).toContain("data1");
  const attached = await interfaces();
  await annotate("storage@data0");
  await expect.poll(interfaces, patient).not.toContain("data1");
  return { attached, detached: await interfaces() };
}

/** A pod whose port 80 is the node's port 8080. */
export function servingPod(name: string): object {
  const container = {
    name: "main",
    image: toolsImage,
    imagePullPolicy: "Never",
    command: ["httpd", "-f", "-p", "80", "-h", "/www"],
  };
  return besidePod(name, { containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 8080 }] }] });
}

/** The HTTP status from a port of the node: 404 of a serving pod, 000 without a pod. */
export function hostPortStatus(node: ClusterNode, port = 8080): string {
  return node.run(["curl", "-s", "-m", "5", "-o", "/dev/null", "-w", "%{http_code}", `http://${node.address}:${port}/`]).stdout;
}

/** Restarts the pods of a DaemonSet and waits for the new ones. */
export async function restarted(cluster: Cluster, namespace: string, daemonSet: string): Promise<void> {
  await cluster.succeed("-n", namespace, "rollout", "restart", `daemonset/${daemonSet}`);
  await cluster.succeed("-n", namespace, "rollout", "status", `daemonset/${daemonSet}`, "--timeout=240s");
}

/** Deletes pods and waits for their end. */
export async function deleted(cluster: Cluster, ...names: readonly string[]): Promise<void> {
  await cluster.succeed("delete", ...names.map((name) => `pod/${name}`), "--timeout=240s").catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
  });
}

/** The types of the steps in a list of the node's /etc/cni/net.d; undefined if the file is absent. */
export function stepsOf({ disk }: Pick<ClusterNode, "disk">, file: string): readonly string[] | undefined {
  try {
    const list: { readonly plugins: readonly { readonly type: string }[] } = JSON.parse(
      readFileSync(join(disk, "etc", "cni", "net.d", file), "utf8"),
    );
    return list.plugins.map(({ type }) => type);
  } catch {
    return undefined;
  }
}

/** Waits until all pods that the namespace `default` has are ready again after a reboot of the node. */
export async function rebooted(cluster: Cluster, node: ClusterNode): Promise<void> {
  await node.reboot();
  await cluster.nodesReady();
  const started = async (): Promise<readonly boolean[]> => {
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default" });
    return items.map(
      ({ status }) => status?.containerStatuses?.every(({ restartCount, ready: is }) => is && restartCount > 0) === true,
    );
  };
  await expect.poll(started, { timeout: 240_000, interval: 1000 }).not.toContain(false);
}
