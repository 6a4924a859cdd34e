// The network between the nodes and the API server: a bridge in the tests' host namespace, and a namespace for each node.

import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";

import { apiAddress, apiLink } from "../kube/address.ts";
import { createPodNamespace, inHost, type PodNamespace } from "../namespaces.ts";

export interface NodeNetwork {
  /** The node's network namespace. */
  readonly namespace: PodNamespace;
  /** The node's address, without a prefix. */
  readonly address: string;
}

export interface ClusterNetwork {
  /** Makes the namespace of node `index` (from 0) with a link to all nodes and to the API server. */
  connect(index: number): NodeNetwork;
  dispose(): void;
}

/** The address of the service `kubernetes`. */
export const serviceAddress = "10.96.0.1";

/** The pods' subnet of a node. */
export const podSubnet = (index: number): string => `10.244.${index}.0/24`;

let made = 0;

/** Makes the bridge. Pods reach the service `kubernetes` at the API server's `port`. */
export function makeClusterNetwork(port: number): ClusterNetwork {
  made += 1;
  const id = `${process.pid.toString(36)}x${made.toString(36)}`;
  const bridge = `kc${id}`;
  const third = takenSubnet();
  const addressOf = (index: number): string => `100.102.${third}.${10 + index}`;
  const gateway = `100.102.${third}.1`;
  inHost(["ip", "address", "replace", `${apiAddress}/32`, "dev", "lo"]);
  inHost(["ip", "link", "add", bridge, "type", "bridge"]);
  inHost(["ip", "address", "add", `${gateway}/24`, "dev", bridge]);
  inHost(["ip", "link", "set", bridge, "up"]);
  const namespaces: PodNamespace[] = [];
  let links = 0;
  return {
    connect(index) {
      const namespace = createPodNamespace("node");
      namespaces.push(namespace);
      links += 1;
      const outer = `kn${id}x${links.toString(36)}`;
      inHost(["ip", "link", "add", outer, "type", "veth", "peer", "name", apiLink, "netns", namespace.name]);
      inHost(["ip", "link", "set", outer, "master", bridge, "up"]);
      const inside = (...command: readonly [string, ...string[]]): void => {
        const { status, stderr } = namespace.exec(command);
        if (status !== 0) throw new Error(`${command.join(" ")} in ${namespace.name}: ${stderr}`);
      };
      inside("ip", "address", "add", `${addressOf(index)}/24`, "dev", apiLink);
      inside("ip", "link", "set", apiLink, "up");
      inside("ip", "route", "add", "default", "via", gateway);
      // Pods of other nodes.
      for (let other = 0; other < maxNodes; other++)
        if (other !== index) inside("ip", "route", "add", podSubnet(other), "via", addressOf(other));
      // These rules replace kube-proxy's for the service `kubernetes`.
      const service = ["-d", serviceAddress, "-p", "tcp", "--dport", "443"];
      for (const chain of ["PREROUTING", "OUTPUT"])
        inside("iptables", "-t", "nat", "-A", chain, ...service, "-j", "DNAT", "--to-destination", `${apiAddress}:${port}`);
      inside("iptables", "-t", "nat", "-A", "POSTROUTING", "-d", apiAddress, "-j", "MASQUERADE");
      return { namespace, address: addressOf(index) };
    },
    dispose() {
      for (const namespace of namespaces) namespace.dispose();
      inHost(["ip", "link", "delete", bridge]);
      rmdirSync(join(takenSubnets, String(third)));
    },
  };
}

/** The largest number of nodes of a cluster. */
export const maxNodes = 3;

/** A directory for each subnet of a cluster that runs: clusters of several workers share the host namespace, and its /run. */
const takenSubnets = "/run/plexus-test-subnets";

/** Takes a subnet 100.102.N.0/24, which no other cluster gets until the directory is removed. Answers N. */
function takenSubnet(): number {
  mkdirSync(takenSubnets, { recursive: true });
  for (let number = 0; number < 256; number++) {
    try {
      mkdirSync(join(takenSubnets, String(number)));
      return number;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
  throw new Error("256 clusters run already");
}
