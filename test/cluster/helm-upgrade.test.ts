// `helm upgrade` and `helm rollback` while pods come and go, and a node's reboot.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Cluster, startCluster } from "../harness/cluster/cluster.ts";
import { leftOn, nothingLeft } from "../harness/cluster/left.ts";
import { importPlexus } from "../harness/cluster/plexus-image.ts";
import { toolsDeployment, toolsPod } from "../harness/cluster/pods.ts";
import { deployPlexus, rollBackPlexus } from "../harness/cluster/release.ts";
import { storage } from "../harness/cluster/storage.ts";
import { missingCluster } from "../harness/cluster/requirements.ts";
import { helm } from "../harness/kube/helm.ts";
import { missingBuild } from "../harness/plexus.ts";

const skip = missingCluster("helm upgrade on a cluster", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const selection = { "k8s.v1.cni.cncf.io/networks": "storage@data0" };
/** Pods at once, and the least number of pods that come and go during a change. */
const width = 5;
const least = 50;

describe.skipIf(skip)("a cluster with Plexus by helm", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    const [node] = cluster.nodes;
    node.installNetwork();
    for (const tag of ["v1", "v2"]) importPlexus(cluster.nodes, tag);
    await cluster.nodesReady();
    await deployPlexus(cluster, "install", "v1");
    await cluster.apply(storage);
  }, 240_000);
  afterAll(async () => cluster?.stop());

  /** Lets a pod come and go. Answers the milliseconds until it was ready, with both networks. */
  const comeAndGo = async (name: string): Promise<number> => {
    const started = performance.now();
    await cluster.apply(toolsPod(name, { annotations: selection, spec: { terminationGracePeriodSeconds: 1 } }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", `pod/${name}`);
    const ms = performance.now() - started;
    await cluster.succeed("exec", name, "--", "ip", "link", "show", "dev", "data0");
    await cluster.succeed("delete", `pod/${name}`, "--timeout=120s");
    return ms;
  };

  /** Pods come and go until `change` has ended, `least` at least. Answers their milliseconds until they were ready. */
  const under = async (prefix: string, change: () => Promise<void>): Promise<readonly number[]> => {
    const times: number[] = [];
    let begun = 0;
    const state = { changed: false };
    const worker = async (): Promise<void> => {
      while (begun < least || !state.changed) times.push(await comeAndGo(`${prefix}-${begun++}`));
    };
    const changing = change().finally(() => {
      state.changed = true;
    });
    await Promise.all([changing, ...Array.from({ length: width }, worker)]);
    return times;
  };

  const failures = async (): Promise<string> =>
    cluster.succeed(
      "get",
      "events",
      "-A",
      "--field-selector=reason=FailedCreatePodSandBox",
      "-o",
      "jsonpath={.items[*].message}",
    );
  test.each(["upgrade", "rollback"])(
    "a helm %s fails no pod and leaves nothing",
    async (kind) => {
      const [node] = cluster.nodes;
      const change = kind === "upgrade" ? () => deployPlexus(cluster, "upgrade", "v2") : () => rollBackPlexus(cluster);
      const times = await under(kind, change);
      process.stdout.write(`during the ${kind}: ${shown(times)}\n`);
      expect(await failures()).toBe("");
      await expect.poll(() => leftOn(node), { timeout: 30_000 }).toEqual(nothingLeft);
    },
    300_000,
  );

  test("after a node's reboot its pods have their networks again, and no address is reserved that no pod has", async () => {
    const [node] = cluster.nodes;
    await cluster.apply(toolsDeployment("web", 3, { annotations: selection }));
    await cluster.succeed("rollout", "status", "deployment/web", "--timeout=60s");
    await node.reboot();
    const restarts = ["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].status.containerStatuses[0].restartCount}"];
    await expect.poll(() => cluster.succeed(...restarts), { timeout: 120_000, interval: 500 }).toBe("1 1 1");
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=web" });
    for (const { metadata } of items)
      await cluster.succeed("exec", metadata?.name ?? "", "--", "ip", "link", "show", "dev", "data0");
    // Three pods with two networks each.
    expect(leftOn(node).leases).toHaveLength(6);
    await cluster.succeed("delete", "deployment/web", "--cascade=foreground", "--timeout=90s");
    await expect.poll(() => leftOn(node), { timeout: 60_000 }).toEqual(nothingLeft);
  }, 240_000);
});

function shown(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => `${Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)} ms`;
  return `${sorted.length} pods were ready after ${at(0.5)} (median), ${at(1)} (most)`;
}
