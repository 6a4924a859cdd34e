// Networks of a running pod on a real cluster: containerd's sandbox, the chart's daemon, and the chart's agent, which executes native plugins.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("hot-plug on a cluster", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const soon = { timeout: 60_000, interval: 500 };

describe.skipIf(skip)("networks of a running pod with the chart on a real cluster", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await clusterWithPlexus("--set", "config.hotPlug=true");
    const [node] = cluster.nodes;
    // The kubelet brings the changed ConfigMap to the daemon, which then writes its configuration anew.
    const configuration = join(node.disk, "etc", "cni", "net.d", "00-plexus.conflist");
    const written = (): void => {
      if (!readFileSync(configuration, "utf8").includes("hotPlug")) throw new Error(`${configuration} lacks hotPlug`);
    };
    await vi.waitFor(written, { timeout: 90_000, interval: 200 });
  }, 300_000);
  afterAll(async () => {
    if (cluster === undefined) return;
    await cluster.succeed("delete", "pods", "--all", "--timeout=120s");
    await cluster.stop();
  });

  test("MO-17 N13-03 FI-18: kubectl annotate attaches and detaches a network of a running pod", async () => {
    await cluster.apply(toolsPod("web", { spec: { terminationGracePeriodSeconds: 1 } }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/web");
    const links = async (): Promise<string> => cluster.succeed("exec", "web", "--", "ip", "-o", "-4", "address", "show");
    const status = async (): Promise<unknown> =>
      cluster.succeed("get", "pod", "web", "-o", "jsonpath={.metadata.annotations.k8s\\.v1\\.cni\\.cncf\\.io/network-status}");
    try {
      await cluster.succeed("annotate", "pod", "web", "k8s.v1.cni.cncf.io/networks=storage");
      await expect.poll(links, soon).toMatch(/net1 +inet 10\.20\.0\./u);
      await expect.poll(status, soon).toContain('"interface":"net1"');
      await cluster.succeed("annotate", "pod", "web", "k8s.v1.cni.cncf.io/networks-");
      await expect.poll(links, soon).not.toContain("net1");
      await expect.poll(status, soon).not.toContain("net1");
      await expect
        .poll(() => cluster.succeed("get", "events", "-o", "jsonpath={.items[*].reason}"), soon)
        .toContain("RemovedInterface");
    } catch (error) {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    }
  });
});
