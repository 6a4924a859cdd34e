// A program that gives pods their default network, as the life cycle beside Plexus sees it.

import type { Cluster } from "../cluster/cluster.ts";
import type { ClusterNode } from "../cluster/node.ts";
import type { Requirement } from "../requires.ts";
import type { NodeDaemon } from "./daemon-set.ts";

export interface DefaultNetwork {
  readonly title: string;
  readonly requirements: readonly Requirement[];
  /** The reference plugins that the node has, besides bridge and host-local of the further network. */
  readonly plugins: readonly string[];
  /** The file in /etc/cni/net.d, and the types of its steps. */
  readonly list: { readonly file: string; readonly steps: readonly string[] };
  readonly daemon: NodeDaemon;
  /** The addresses of pods. */
  readonly addresses: RegExp;
  /** The first entry of a pod's network status, without its addresses. Default: only the addresses are compared. */
  readonly status?: object;
  /** The beginning of the names of its links in the node's network namespace. */
  readonly links: string;
  /** Imports images with the tags v1 and v2, and prepares the node. */
  prepare(cluster: Cluster): Promise<void>;
  /** Installs or upgrades it to the image with this tag, and waits for its rollout. */
  deploy(cluster: Cluster, tag: string): Promise<void>;
  /** Removes its DaemonSet, its list and its plugins. */
  remove(cluster: Cluster): Promise<void>;
  /** The number of addresses that pods have. */
  allocated(cluster: Cluster, node: ClusterNode): Promise<number>;
}
