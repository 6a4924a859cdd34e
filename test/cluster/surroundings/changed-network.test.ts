// A node with Plexus whose default network is replaced by another one: flannel by kindnet, and back, while pods of the old network run.

import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { Cluster } from "../../lab/cluster/cluster.ts";
import { statusAnnotation } from "../../lab/cluster/fault-pods.ts";
import type { ClusterNode } from "../../lab/cluster/node.ts";
import { deployPlexus, removePlexus } from "../../lab/cluster/release.ts";
import { storage } from "../../lab/cluster/storage.ts";
import { filesBelow, leases } from "../../lab/namespaces.ts";
import { referencePlugins } from "../../lab/requires.ts";
import { besideCluster, missingBeside } from "../../lab/surroundings/beside-cluster.ts";
import * as beside from "../../lab/surroundings/beside.ts";
import type { DefaultNetwork } from "../../lab/surroundings/default-network.ts";
import { flannel } from "../../lab/surroundings/flannel/network.ts";
import { kindnet } from "../../lab/surroundings/kindnet/network.ts";
import { stageMs } from "../../lab/surroundings/life-cycle.ts";

const skip = missingBeside("two default networks", referencePlugins("ptp"), ...flannel.requirements);

/** The time after which a DEL that fails is given up. Default: 300 s. */
const shortDel = ["--set", "config.del.seconds=30"];
const inDaemon = ["-n", "kube-system", "exec", "daemonset/plexus", "-c", "plexusd", "--"] as const;
const reconcile = [...inDaemon, "/opt/plexus/bin/node", "/opt/plexus/plexusctl.cjs", "reconcile"];

describe.skipIf(skip)("Plexus beside a default network that is replaced", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  besideCluster(async (started) => {
    cluster = started;
    [node] = cluster.nodes;
    for (const plugin of ["bridge", "host-local", "loopback", "portmap", "ptp"]) node.installPlugin(plugin);
    for (const network of [flannel, kindnet]) await network.prepare(cluster);
  });

  /** Starts pods whose default network has this name. */
  const start = async (network: string, ...names: readonly string[]): Promise<void> => {
    await cluster.apply(...names.map((each) => beside.besidePod(each)));
    await beside.ready(cluster, names);
    for (const each of names) {
      await beside.connected(cluster, each);
      const { metadata } = await cluster.core.readNamespacedPod({ namespace: "default", name: each });
      const [first] = JSON.parse(metadata?.annotations?.[statusAnnotation] ?? "[]");
      expect(first.name).toBe(network);
    }
  };
  const replaced = async (from: DefaultNetwork, to: DefaultNetwork): Promise<void> => {
    await from.remove(cluster);
    await to.deploy(cluster, "v1");
    const lists = (): object => [from, to].map(({ list }) => beside.stepsOf(node, list.file));
    await expect.poll(lists, beside.patient).toEqual([undefined, to.list.steps]);
    await expect.poll(() => beside.stepsOf(node, "00-plexus.conflist"), beside.patient).toEqual(["plexus"]);
  };
  const abandoned = (): readonly string[] => filesBelow(join(node.disk, "var", "lib", "cni", "plexus", "abandoned"));
  const storageLeases = (): readonly string[] =>
    leases(join(node.disk, "var", "lib", "cni", "networks")).filter((lease) => lease.startsWith("storage"));

  test(
    "FI-42: without the old network's plugin the DEL of its pods is given up; new pods have the new network",
    async () => {
      await flannel.deploy(cluster, "v1");
      await cluster.nodesReady();
      await deployPlexus(cluster, "install", "v1", ...beside.chartSettings, ...shortDel);
      await cluster.apply(storage);
      await start("cbr0", "old-0", "old-1");
      await replaced(flannel, kindnet);
      await cluster.succeed("delete", "pod/old-0", "--wait=false");
      await start("kindnet", "new-0", "new-1", "plugged");
      await cluster.succeed("wait", "--for=delete", "--timeout=400s", "pod/old-0");
      expect(abandoned()).toHaveLength(1);
      // The further network's address is freed at once: the failed step does not keep the other network from its DEL.
      expect(storageLeases()).toHaveLength(4);
      expect(await flannel.allocated(cluster, node)).toBe(2);
    },
    stageMs,
  );

  test(
    "FI-42: hot-plug of a pod whose default network is no longer the node's",
    async () => {
      await replaced(kindnet, flannel);
      expect(await beside.hotPlugged(cluster, "plugged")).toEqual(beside.hotPlugging);
      await beside.deleted(cluster, "plugged");
    },
    stageMs,
  );

  test(
    "FI-42: the given-up DEL is made up for once the plugin is there again",
    async () => {
      await cluster.succeed(...reconcile);
      await expect.poll(abandoned, beside.patient).toEqual([]);
      await expect.poll(() => flannel.allocated(cluster, node), beside.patient).toBe(1);
    },
    stageMs,
  );

  test(
    "FI-42: the addresses of the old network are freed where its plugins are still there",
    async () => {
      await beside.restarted(cluster, "kube-system", "plexus");
      await beside.deleted(cluster, "new-0", "new-1", "old-1");
      expect(await kindnet.allocated(cluster, node)).toBe(0);
      expect(await flannel.allocated(cluster, node)).toBe(0);
      expect(storageLeases()).toEqual([]);
      await start("cbr0", "last");
      await beside.deleted(cluster, "last");
      await removePlexus(cluster);
    },
    stageMs,
  );
});
