// Plexus with the real IPAM plugin whereabouts for the addresses of a further network, on a node with a real kubelet and containerd.

import { describe, expect, test } from "vitest";

import type { Cluster } from "../../lab/cluster/cluster.ts";
import type { ClusterNode } from "../../lab/cluster/node.ts";
import { deployPlexus, removePlexus } from "../../lab/cluster/release.ts";
import { besideCluster, missingBeside } from "../../lab/surroundings/beside-cluster.ts";
import * as beside from "../../lab/surroundings/beside.ts";
import { stageMs } from "../../lab/surroundings/life-cycle.ts";
import { defineWhereabouts, installOnNode, owners, removeFromNode } from "../../lab/surroundings/whereabouts/install.ts";
import { realWhereabouts } from "../../lab/whereabouts/whereabouts-binary.ts";

const storage = {
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name: "storage", namespace: "default" },
  spec: {
    config: JSON.stringify({
      cniVersion: "1.0.0",
      name: "storage",
      plugins: [{ type: "bridge", bridge: "br-storage", ipam: { type: "whereabouts", range: "10.20.0.0/24" } }],
    }),
  },
};

/** Pods of the namespace `default`. */
const ofPods = (...names: readonly string[]): readonly string[] => names.map((name) => `default/${name}`).toSorted();

describe.skipIf(missingBeside("whereabouts", realWhereabouts))("Plexus beside whereabouts", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  besideCluster(async (started) => {
    cluster = started;
    [node] = cluster.nodes;
    node.installNetwork();
    await defineWhereabouts(cluster);
    installOnNode(cluster, node);
    await cluster.nodesReady();
  });

  const start = async (...names: readonly string[]): Promise<void> => {
    await cluster.apply(...names.map((name) => beside.besidePod(name)));
    await beside.ready(cluster, names);
    for (const name of names) await beside.connected(cluster, name);
  };

  test(
    "FI-41: ten pods have addresses of whereabouts",
    async () => {
      await deployPlexus(cluster, "install", "v1", ...beside.chartSettings);
      await cluster.apply(storage);
      await start(...beside.tenPods);
      expect(await owners(cluster)).toEqual(ofPods(...beside.tenPods));
    },
    stageMs,
  );

  test(
    "FI-41: hot-plug takes a further address, and frees it",
    async () => {
      expect(await beside.hotPlugged(cluster, "pod-0")).toEqual(beside.hotPlugging);
      await expect.poll(() => owners(cluster), beside.patient).toEqual(ofPods(...beside.tenPods));
    },
    stageMs,
  );

  test(
    "FI-41: a restart and an upgrade of Plexus change no address",
    async () => {
      await beside.restarted(cluster, "kube-system", "plexus");
      await deployPlexus(cluster, "upgrade", "v2", ...beside.chartSettings);
      for (const name of beside.tenPods) await beside.connected(cluster, name);
      await start("upgraded");
      expect(await owners(cluster)).toEqual(ofPods(...beside.tenPods, "upgraded"));
    },
    stageMs,
  );

  test(
    "FI-41: after a reboot each pod has one address",
    async () => {
      await beside.rebooted(cluster, node);
      for (const name of beside.tenPods) await beside.connected(cluster, name);
      await expect.poll(() => owners(cluster), beside.patient).toEqual(ofPods(...beside.tenPods, "upgraded"));
    },
    stageMs,
  );

  test(
    "FI-41: without whereabouts deleted pods wait; they end, with no address left, once whereabouts is there again",
    async () => {
      removeFromNode(node);
      await cluster.succeed("delete", "pod/pod-0", "pod/upgraded", "--wait=false");
      installOnNode(cluster, node);
      await cluster.succeed("wait", "--for=delete", "--timeout=240s", "pod/pod-0", "pod/upgraded");
      await expect.poll(() => owners(cluster), beside.patient).toEqual(ofPods(...beside.tenPods.slice(1)));
    },
    stageMs,
  );

  test(
    "FI-41: the uninstallation of Plexus leaves no address in use",
    async () => {
      await beside.deleted(cluster, ...beside.tenPods.slice(1));
      await removePlexus(cluster);
      expect(await owners(cluster)).toEqual([]);
    },
    stageMs,
  );
});
