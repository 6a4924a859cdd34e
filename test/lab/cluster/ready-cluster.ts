// Clusters for tests of Plexus: one node with a default network and Plexus' image. The files of a vitest worker share one such cluster,
// because a start takes longer than most tests. Each file gets the cluster in the same state, or a new cluster where that fails.

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { removeAfterRun } from "../ended-directories.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { clusterRegistry } from "./ended-clusters.ts";
import { leftOn, nothingLeft } from "./left.ts";
import { importPlexus } from "./plexus-image.ts";
import { deployPlexus } from "./release.ts";
import { removeInstallation } from "./removed-installation.ts";
import { storage } from "./storage.ts";

let shared: Cluster | undefined;

/** How long the detachment of deleted pods may take. */
const detachedMs = 60_000;

/** A cluster whose node is ready and has the image `v1`. Plexus is not installed. `stop` gives the cluster back. */
export async function clusterWithImage(): Promise<Cluster> {
  return lent(await prepared("the image", removeInstallation));
}

/** The same with Plexus installed, and the network `storage` for pods. The release has these values, as arguments of helm, and none of an earlier file. */
export async function clusterWithPlexus(...values: readonly string[]): Promise<Cluster> {
  const install = async (cluster: Cluster): Promise<void> => {
    await deployPlexus(cluster, "upgrade", "v1", "--install", ...values);
    await cluster.apply(storage);
  };
  return lent(await prepared("Plexus", install));
}

/** The worker's cluster, empty and then changed by `further`. */
async function prepared(state: string, further: (cluster: Cluster) => Promise<void>): Promise<Cluster> {
  const began = performance.now();
  const done = (which: string, cluster: Cluster): Cluster => {
    process.stdout.write(`a ${which} cluster with ${state} was ready after ${Math.round(performance.now() - began)} ms\n`);
    return cluster;
  };
  if (shared !== undefined) {
    const cluster = shared;
    try {
      await empty(cluster);
      await further(cluster);
      return done("used", cluster);
    } catch (error) {
      process.stderr.write(`the tests' cluster cannot be used again: ${String(error)}\n`);
      shared = undefined;
      await cluster.stop();
    }
  }
  const cluster = await startCluster();
  try {
    const [node] = cluster.nodes;
    removeAfterRun(clusterRegistry, join(node.disk, "..", ".."));
    node.installNetwork();
    importPlexus(cluster.nodes, "v1");
    await cluster.nodesReady();
    await further(cluster);
  } catch (error) {
    // The caller has no cluster to stop yet.
    await cluster.stop();
    throw error;
  }
  shared = cluster;
  return done("new", cluster);
}

/** Removes what the tests of a file left, and throws if an attachment is left. */
async function empty(cluster: Cluster): Promise<void> {
  const [node] = cluster.nodes;
  await cluster.succeed("delete", "deployments,pods", "--all", "--cascade=foreground", "--timeout=120s");
  // Its pods are on the default network. The next installation makes it again if its values ask for it.
  const controller = ["deployment/plexus-controller", "--ignore-not-found", "--cascade=foreground", "--timeout=120s"];
  await cluster.succeed("-n", "kube-system", "delete", ...controller);
  await cluster.kubectl("delete", "network-attachment-definitions", "--all", "--all-namespaces");
  const deadline = performance.now() + detachedMs;
  for (let left = leftOn(node); !isDeepStrictEqual(left, nothingLeft); left = leftOn(node)) {
    if (performance.now() > deadline) throw new Error(`attachments are left: ${JSON.stringify(left)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  node.exec(["ip", "link", "delete", "br-storage"]);
  // kubectl deletes Events one by one.
  for (const namespace of ["default", "kube-system"]) await cluster.core.deleteCollectionNamespacedEvent({ namespace });
}

/** The cluster for one file: `stop` keeps it for the next file. */
const lent = (cluster: Cluster): Cluster => ({ ...cluster, stop: async () => undefined });
