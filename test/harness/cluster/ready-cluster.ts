// Clusters for tests of Plexus: one node with a default network and Plexus' image.

import { type Cluster, startCluster } from "./cluster.ts";
import { importPlexus } from "./plexus-image.ts";
import { deployPlexus } from "./release.ts";
import { storage } from "./storage.ts";

/** A cluster whose node is ready and has the image `v1`. Plexus is not installed. The caller stops it. */
export function clusterWithImage(): Promise<Cluster> {
  return prepared(async () => undefined);
}

/** The same with Plexus installed, and the network `storage` for pods. */
export function clusterWithPlexus(): Promise<Cluster> {
  return prepared(async (cluster) => {
    await deployPlexus(cluster, "install", "v1");
    await cluster.apply(storage);
  });
}

async function prepared(further: (cluster: Cluster) => Promise<void>): Promise<Cluster> {
  const cluster = await startCluster();
  try {
    const [node] = cluster.nodes;
    node.installNetwork();
    importPlexus(cluster.nodes, "v1");
    await cluster.nodesReady();
    await further(cluster);
    return cluster;
  } catch (error) {
    // The caller has no cluster to stop yet.
    await cluster.stop();
    throw error;
  }
}
