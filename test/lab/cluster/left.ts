// Remains of deleted pods on a node.

import { join } from "node:path";

import { isPermanent } from "../stage.ts";
import { filesBelow, leases } from "../namespaces.ts";
import { type ClusterNode, linkNames } from "./node.ts";

export interface LeftOnNode {
  /** Links without bridges, which stay on purpose, and without the link to the API server. */
  readonly links: readonly string[];
  readonly leases: readonly string[];
  /** Files of Plexus' state. The last configuration, and for an hour the last known policies, stay on purpose. */
  readonly state: readonly string[];
}

const isKept = (path: string): boolean => isPermanent(path) || path.startsWith("configurations/") || path.startsWith("policies/");

/** The state of a node after the DEL of every attachment. */
export const nothingLeft: LeftOnNode = { links: [], leases: [], state: [] };

/** `cni`: the path of the node's /var/lib/cni, if a file system is mounted there. */
export function leftOn(node: ClusterNode, cni = join(node.disk, "var", "lib", "cni")): LeftOnNode {
  return {
    links: linkNames(node).filter((name) => !["br-storage", "cni0", "kube0"].includes(name)),
    leases: leases(join(cni, "networks")),
    state: filesBelow(join(cni, "plexus")).filter((path) => !isKept(path)),
  };
}
