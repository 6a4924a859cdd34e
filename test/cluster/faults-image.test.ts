// A release whose image cannot be pulled.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Cluster, startCluster } from "../lab/cluster/cluster.ts";
import { connected, deletePods, eventsOf, plexusPodOn, startPods } from "../lab/cluster/fault-pods.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import { importPlexus } from "../lab/cluster/plexus-image.ts";
import { breakPlexus, deployPlexus, rollBackPlexus } from "../lab/cluster/release.ts";
import { storage } from "../lab/cluster/storage.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("an image that is absent", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const within = { timeout: 90_000, interval: 500 };

describe.skipIf(skip)("Plexus on two nodes", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 2 });
    for (const node of cluster.nodes) node.installNetwork();
    importPlexus(cluster.nodes, "v1");
    await cluster.nodesReady();
    await deployPlexus(cluster, "install", "v1");
    await cluster.apply(storage);
  }, 300_000);
  afterAll(async () => cluster?.stop());

  const failedPulls = async (): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const { name } of cluster.nodes) {
      const pod = await plexusPodOn(cluster, name).catch(() => "");
      if (pod !== "" && (await eventsOf(cluster, pod, "Failed", "kube-system")).includes("absent")) names.push(name);
    }
    return names;
  };

  test("an image that is absent stops the rollout at maxUnavailable: one node is served by one-shot engines, the other by its daemon", async () => {
    const pods = cluster.nodes.map(({ name }) => ({
      name,
      steady: `steady-${name}`,
      victim: `victim-${name}`,
      fresh: `fresh-${name}`,
    }));
    for (const { name, steady, victim } of pods) await startPods(cluster, [steady, victim], name);
    const daemons = await Promise.all(cluster.nodes.map(({ name }) => plexusPodOn(cluster, name)));
    await breakPlexus(cluster, "absent", "--set", "image.pullPolicy=IfNotPresent");
    await expect.poll(failedPulls, within).toHaveLength(1);
    for (const { name, steady, victim, fresh } of pods) {
      await startPods(cluster, [fresh], name);
      await connected(cluster, steady);
      await deletePods(cluster, [victim]);
    }
    // One pod was replaced, and the rollout waits for it: the other daemon is that of before.
    const now = await Promise.all(cluster.nodes.map(({ name }) => plexusPodOn(cluster, name)));
    expect(now.filter((name) => daemons.includes(name))).toHaveLength(1);
    await rollBackPlexus(cluster);
    for (const { name, steady, fresh } of pods) {
      await startPods(cluster, [`healed-${name}`], name);
      await deletePods(cluster, [steady, fresh, `healed-${name}`]);
    }
    for (const node of cluster.nodes) await expect.poll(() => leftOn(node), within).toEqual(nothingLeft);
  }, 400_000);
});
