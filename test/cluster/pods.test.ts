// Pods on a real cluster: with the default network alone, and through Plexus, installed by hand.

import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Cluster, startCluster } from "../harness/cluster/cluster.ts";
import { toolsDeployment, toolsPod } from "../harness/cluster/pods.ts";
import { missingCluster } from "../harness/cluster/requirements.ts";
import { leases } from "../harness/namespaces.ts";
import { linkNames } from "../harness/cluster/node.ts";

describe.skipIf(missingCluster("pods on a cluster"))("on a real cluster", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 180_000);
  afterAll(async () => cluster?.stop());

  test("a pod with hostNetwork runs before the node has a network", async () => {
    const [node] = cluster.nodes;
    await cluster.apply(toolsPod("early", { spec: { hostNetwork: true, tolerations: [{ operator: "Exists" }] } }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=60s", "pod/early");
    expect(await cluster.succeed("get", "pod", "early", "-o", "jsonpath={.status.podIP}")).toBe(node.address);
  });

  test("with a default network the node is Ready, and pods have addresses, a token, logs, and reach each other", async () => {
    const [node] = cluster.nodes;
    node.installNetwork();
    await cluster.nodesReady();
    await cluster.apply(toolsDeployment("web", 3));
    await cluster.succeed("rollout", "status", "deployment/web", "--timeout=60s");
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=web" });
    const addresses = items.map(({ status }) => status?.podIP ?? "");
    expect(new Set(addresses).size).toBe(3);
    const [first] = items;
    for (const address of addresses) {
      expect(address).toMatch(/^10\.244\.0\.\d+$/);
      await cluster.succeed("exec", first?.metadata?.name ?? "", "--", "ping", "-c", "1", "-W", "2", address);
    }
    const token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
    expect(await cluster.succeed("exec", first?.metadata?.name ?? "", "--", "cat", token)).toMatch(/^ey/);
    await cluster.apply(toolsPod("talker", { spec: { restartPolicy: "Never", containers: [talker] } }));
    await cluster.succeed("wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s", "pod/talker");
    expect(await cluster.succeed("logs", "talker")).toBe("2\n");
  });

  test("deleted pods leave no link, no lease and no sandbox", async () => {
    const [node] = cluster.nodes;
    await cluster.succeed("delete", "deployment/web", "pod/talker", "pod/early", "--cascade=foreground", "--timeout=60s");
    const left = (): object => ({ links: linkNames(node), leases: leases(join(node.disk, "var", "lib", "cni", "networks")) });
    await expect.poll(left, { timeout: 30_000 }).toEqual({ links: ["cni0", "kube0"], leases: [] });
  });
});

/** Prints the seccomp mode of its process: 2 is a filter. */
const talker = {
  name: "main",
  image: "plexus.invalid/tools:1",
  command: ["/bin/sh", "-c", "sed -n 's/^Seccomp:[[:space:]]*//p' /proc/self/status"],
};
