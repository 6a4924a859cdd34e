// `helm install` and `helm uninstall` on a node whose default network works and whose pods run.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { isPermanent } from "../e2e/stage.ts";
import { type Cluster, startCluster } from "../harness/cluster/cluster.ts";
import { linkNames } from "../harness/cluster/node.ts";
import { importPlexus, plexusRepository } from "../harness/cluster/plexus-image.ts";
import { toolsDeployment, toolsPod } from "../harness/cluster/pods.ts";
import { missingCluster } from "../harness/cluster/requirements.ts";
import { root } from "../harness/compiled.ts";
import { helm } from "../harness/kube/helm.ts";
import { filesBelow, leases } from "../harness/namespaces.ts";
import { missingBuild } from "../harness/plexus.ts";

const chart = join(root, "deploy", "helm", "plexus");
const skip = missingCluster("helm install on a cluster", helm, () => missingBuild({ components: ["ipam-host-local"] }));

describe.skipIf(skip)("helm install on a node with pods", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    const [node] = cluster.nodes;
    node.installNetwork();
    importPlexus(cluster.nodes, "v1");
    await cluster.nodesReady();
    await cluster.apply(toolsDeployment("before", 2));
    await cluster.succeed("rollout", "status", "deployment/before", "--timeout=60s");
  }, 240_000);
  afterAll(async () => cluster?.stop());

  const release = ["plexus", chart, "--namespace", "kube-system", "--wait", "--timeout", "60s"];
  const image = ["--set", `image.repository=${plexusRepository}`, "--set", "image.pullPolicy=Never"];
  const trust = ["--set-json", 'definitions={"trusted":["*"]}'];
  const addressesOf = (label: string): Promise<string> =>
    cluster.succeed("get", "pods", "-l", `app=${label}`, "-o", "jsonpath={.items[*].status.podIP}");

  const explain = async (error: unknown): Promise<never> => {
    throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
  };

  /** What deleted pods may have left. Bridges and the last configuration stay on purpose. */
  const left = (): object => {
    const [node] = cluster.nodes;
    const cni = join(node.disk, "var", "lib", "cni");
    return {
      links: linkNames(node).filter((name) => !["br-storage", "cni0", "kube0"].includes(name)),
      leases: leases(join(cni, "networks")),
      state: filesBelow(join(cni, "plexus")).filter((path) => !isPermanent(path) && !path.startsWith("configurations/")),
    };
  };

  test("is ready within 60 s, and pods that ran before keep their addresses", async () => {
    const addresses = await addressesOf("before");
    const started = performance.now();
    const { status, stderr } = await cluster.helm("install", ...release, ...image, ...trust, "--set", "image.tag=v1");
    if (status !== 0) await explain(stderr);
    // Helm 3 counts a DaemonSet as ready while `maxUnavailable` nodes are not, which is the only node here.
    await cluster.succeed("-n", "kube-system", "rollout", "status", "daemonset/plexus", "--timeout=60s").catch(explain);
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(await addressesOf("before")).toBe(addresses);
    const [first = "", second = ""] = addresses.split(" ");
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=before" });
    const from = items.find(({ status: its }) => its?.podIP === first)?.metadata?.name ?? "";
    await cluster.succeed("exec", from, "--", "ping", "-c", "1", "-W", "2", second);
  });

  test("the next pods have the networks that they select, and their status", async () => {
    await cluster.apply(storage);
    await cluster.apply(toolsDeployment("web", 3, { annotations: { "k8s.v1.cni.cncf.io/networks": "storage@data0" } }));
    await cluster.succeed("rollout", "status", "deployment/web", "--timeout=60s").catch(explain);
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=web" });
    expect(items).toHaveLength(3);
    for (const { metadata, status } of items) {
      const address = ["exec", metadata?.name ?? "", "--", "ip", "-o", "-4", "address", "show", "dev", "data0"];
      expect(await cluster.succeed(...address)).toMatch(/ 10\.20\.0\.\d+\/24 /);
      expect(JSON.parse(metadata?.annotations?.["k8s.v1.cni.cncf.io/network-status"] ?? "[]")).toMatchObject([
        { name: "pods", interface: "eth0", default: true, ips: [status?.podIP] },
        { name: "default/storage", interface: "data0", ips: [expect.stringMatching(/^10\.20\.0\.\d+$/)] },
      ]);
    }
  });

  test("deleted pods, also those that ran before, leave nothing", async () => {
    await cluster.succeed("delete", "deployment/web", "deployment/before", "--cascade=foreground", "--timeout=60s");
    await expect.poll(left, { timeout: 30_000 }).toEqual({ links: [], leases: [], state: [] });
  });

  test("after helm uninstall the next pod starts on the default network within 30 s, and Plexus' configuration is gone", async () => {
    const [node] = cluster.nodes;
    const { status, stderr } = await cluster.helm(
      "uninstall",
      "plexus",
      "--namespace",
      "kube-system",
      "--wait",
      "--timeout",
      "90s",
    );
    if (status !== 0) await explain(stderr);
    const started = performance.now();
    await cluster.apply(toolsPod("after"));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=60s", "pod/after");
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(existsSync(join(node.disk, "etc", "cni", "net.d", "00-plexus.conflist"))).toBe(false);
    await cluster.succeed("delete", "pod/after", "--timeout=60s");
    await expect.poll(left, { timeout: 30_000 }).toEqual({ links: [], leases: [], state: [] });
  });
});

/** Pods, events and the logs of Plexus' pods, for a failed test. */
async function explained(cluster: Cluster): Promise<string> {
  const all = [
    await cluster.kubectl("get", "pods", "-A", "-o", "wide"),
    await cluster.kubectl("get", "events", "-A", "--field-selector=type!=Normal,reason!=MissingClusterDNS"),
    await cluster.kubectl("-n", "kube-system", "logs", "-l", "app.kubernetes.io/name=plexus", "--all-containers", "--tail=30"),
  ];
  return all.map(({ stdout, stderr }) => `${stdout.slice(-6000)}${stderr.slice(-1000)}`).join("\n");
}

const storage = {
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name: "storage", namespace: "default" },
  spec: {
    config: JSON.stringify({
      cniVersion: "1.0.0",
      name: "storage",
      plugins: [
        { type: "bridge", bridge: "br-storage", ipam: { type: "ipam-host-local", ranges: [[{ subnet: "10.20.0.0/24" }]] } },
      ],
    }),
  },
};
