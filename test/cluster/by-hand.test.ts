// Pods on a real cluster: with the default network alone, and then through Plexus, installed by hand as the first configuration of the node,
// with one-shot engines.

import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { installByHand } from "../lab/cluster/by-hand.ts";
import { type Cluster, startCluster } from "../lab/cluster/cluster.ts";
import { toolsDeployment, toolsPod } from "../lab/cluster/pods.ts";
import { linkNames } from "../lab/cluster/node.ts";
import { storage } from "../lab/cluster/storage.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { filesBelow, leases } from "../lab/namespaces.ts";
import { missingBuild } from "../lab/plexus.ts";
import { isPermanent } from "../lab/stage.ts";

const skip = missingCluster("Plexus by hand on a cluster", () => missingBuild({ components: ["ipam-host-local"] }));

describe.skipIf(skip)("on a real cluster", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(async () => cluster?.stop());

  const addressesOf = async (pod: string, link: string): Promise<string> =>
    cluster.succeed("exec", pod, "--", "ip", "-o", "-4", "address", "show", "dev", link);

  test("a pod with hostNetwork runs before the node has a network", async () => {
    const [node] = cluster.nodes;
    await cluster.apply(toolsPod("early", { spec: { hostNetwork: true, tolerations: [{ operator: "Exists" }] } }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/early");
    expect(await cluster.succeed("get", "pod", "early", "-o", "jsonpath={.status.podIP}")).toBe(node.address);
  });

  test("with a default network the node is Ready, and pods have addresses, a token, logs, and reach each other", async () => {
    const [node] = cluster.nodes;
    node.installNetwork();
    await cluster.nodesReady();
    await cluster.apply(toolsDeployment("web", 3));
    await cluster.succeed("rollout", "status", "deployment/web", "--timeout=120s");
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
    await cluster.succeed("wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=120s", "pod/talker");
    expect(await cluster.succeed("logs", "talker")).toBe("2\n");
  });

  test("without Plexus, deleted pods leave no link, no lease and no sandbox", async () => {
    const [node] = cluster.nodes;
    await cluster.succeed("delete", "deployment/web", "pod/talker", "pod/early", "--cascade=foreground", "--timeout=120s");
    const left = (): object => ({ links: linkNames(node), leases: leases(join(node.disk, "var", "lib", "cni", "networks")) });
    await expect.poll(left).toEqual({ links: ["cni0", "kube0"], leases: [] });
  });

  describe("with Plexus by hand", () => {
    beforeAll(async () => {
      const [node] = cluster.nodes;
      await cluster.apply(toolsPod("before"));
      await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/before");
      await installByHand(cluster, node);
      await cluster.apply(storage);
    });

    test("attaches a Deployment's pods to the default network and to those that they select, and publishes their status", async () => {
      await cluster.apply(toolsDeployment("web", 2, { annotations: { "k8s.v1.cni.cncf.io/networks": "storage@data0" } }));
      await cluster.succeed("rollout", "status", "deployment/web", "--timeout=120s");
      const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=web" });
      const names = items.map(({ metadata }) => metadata?.name ?? "");
      for (const { metadata, status } of items) {
        expect(await addressesOf(metadata?.name ?? "", "eth0")).toContain(` ${status?.podIP}/24 `);
        expect(await addressesOf(metadata?.name ?? "", "data0")).toMatch(/ 10\.20\.0\.\d+\/24 /);
        expect(JSON.parse(metadata?.annotations?.["k8s.v1.cni.cncf.io/network-status"] ?? "[]")).toMatchObject([
          { name: "pods", interface: "eth0", default: true, ips: [status?.podIP] },
          { name: "default/storage", interface: "data0", ips: [expect.stringMatching(/^10\.20\.0\.\d+$/)] },
        ]);
      }
      const [from = "", to = ""] = names;
      const [, address = ""] = / (10\.20\.0\.\d+)\//.exec(await addressesOf(to, "data0")) ?? [];
      await cluster.succeed("exec", from, "--", "ping", "-c", "1", "-W", "2", "-I", "data0", address);
    });

    test("detaches deleted pods, also one that ran before Plexus came, and leaves nothing", async () => {
      const [node] = cluster.nodes;
      await cluster.succeed("delete", "deployment/web", "pod/before", "--cascade=foreground", "--timeout=120s");
      const cni = join(node.disk, "var", "lib", "cni");
      const left = (): object => ({
        links: linkNames(node),
        leases: leases(join(cni, "networks")),
        state: filesBelow(join(cni, "plexus")).filter((path) => !isPermanent(path)),
      });
      await expect.poll(left).toEqual({ links: ["br-storage", "cni0", "kube0"], leases: [], state: [] });
    });
  });
});

/** Prints the seccomp mode of its process: 2 is a filter. */
const talker = {
  name: "main",
  image: "plexus.invalid/tools:1",
  command: ["/bin/sh", "-c", "sed -n 's/^Seccomp:[[:space:]]*//p' /proc/self/status"],
};
