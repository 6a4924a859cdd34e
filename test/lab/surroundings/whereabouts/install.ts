// whereabouts on a node as script/install-cni.sh of k8snetworkplumbingwg/whereabouts installs it: the real program, its configuration and a kubeconfig. The
// text is our own; the kubeconfig is the administrator's, and no controller of whereabouts runs.

import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Cluster } from "../../cluster/cluster.ts";
import type { ClusterNode } from "../../cluster/node.ts";
import { whereaboutsDefinition, whereaboutsGroup, whereaboutsKinds } from "../../kube/whereabouts-objects.ts";
import { whereaboutsBinary } from "../../whereabouts/whereabouts-binary.ts";

const configuration = (disk: string): string => join(disk, "etc", "cni", "net.d", "whereabouts.d");
const plugin = (disk: string): string => join(disk, "opt", "cni", "bin", "whereabouts");

/** Creates the definitions of whereabouts' kinds, and waits until they are served. */
export async function defineWhereabouts(cluster: Cluster): Promise<void> {
  await cluster.apply(...whereaboutsKinds.map((kind) => whereaboutsDefinition(kind)));
  const names = whereaboutsKinds.map((kind) => `crd/${kind.toLowerCase()}s.${whereaboutsGroup}`);
  await cluster.succeed("wait", "--for=condition=Established", "--timeout=120s", ...names);
}

/** Installs the plugin and its files on a node. */
export function installOnNode(cluster: Cluster, { disk }: ClusterNode): void {
  mkdirSync(configuration(disk), { recursive: true });
  copyFileSync(cluster.kubeconfig, join(configuration(disk), "whereabouts.kubeconfig"));
  const kubernetes = { kubeconfig: "/etc/cni/net.d/whereabouts.d/whereabouts.kubeconfig" };
  writeFileSync(join(configuration(disk), "whereabouts.conf"), JSON.stringify({ datastore: "kubernetes", kubernetes }));
  copyFileSync(whereaboutsBinary() ?? "", `${plugin(disk)}.new`);
  chmodSync(`${plugin(disk)}.new`, 0o755);
  renameSync(`${plugin(disk)}.new`, plugin(disk));
}

/** Removes the plugin and its files from a node. */
export function removeFromNode({ disk }: ClusterNode): void {
  rmSync(configuration(disk), { recursive: true });
  rmSync(plugin(disk));
}

/** The pods that have addresses, as NAMESPACE/NAME, sorted. A pod is there once for each address. */
export async function owners(cluster: Cluster): Promise<readonly string[]> {
  const text = await cluster.succeed("get", `ippools.${whereaboutsGroup}`, "-A", "-o", "json");
  const pools: { items: { spec: { allocations: Record<string, { podref: string }> } }[] } = JSON.parse(text);
  return pools.items.flatMap(({ spec }) => Object.values(spec.allocations).map(({ podref }) => podref)).toSorted();
}
