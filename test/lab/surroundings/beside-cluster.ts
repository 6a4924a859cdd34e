// The cluster of a suite beside another program.

import { afterAll, beforeAll } from "vitest";

import { type Cluster, startCluster } from "../cluster/cluster.ts";
import type { ClusterNode } from "../cluster/node.ts";
import { importPlexus } from "../cluster/plexus-image.ts";
import { missingCluster } from "../cluster/requirements.ts";
import { helm } from "../kube/helm.ts";
import { missingBuild } from "../plexus.ts";
import type { Requirement } from "../requires.ts";

export interface BesideCluster {
  readonly cluster: Cluster;
  /** The only node. */
  readonly node: ClusterNode;
}

/** Whether this machine lacks a requirement of a suite on a cluster with Plexus' chart and these programs. */
export function missingBeside(title: string, ...programs: readonly Requirement[]): boolean {
  return missingCluster(`Plexus beside ${title}`, helm, () => missingBuild({ components: ["ipam-host-local"] }), ...programs);
}

/** A cluster of one node with images of Plexus with the tags v1 and v2, started before the tests of a suite and ended after them. */
export function besideCluster(prepare: (cluster: Cluster) => Promise<void>): BesideCluster {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster();
    for (const tag of ["v1", "v2"]) importPlexus(cluster.nodes, tag);
    await prepare(cluster);
  }, 600_000);
  afterAll(async () => cluster?.stop());
  const started = (): Cluster => {
    if (cluster === undefined) throw new Error("the cluster has not been started");
    return cluster;
  };
  return {
    get cluster() {
      return started();
    },
    get node() {
      return started().nodes[0];
    },
  };
}
