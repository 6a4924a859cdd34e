// DaemonSets as the manifests of networks have them: in the node's network namespace, on nodes that are not ready, and of critical priority.

import type { Cluster } from "../cluster/cluster.ts";
import { explained } from "../cluster/release.ts";

export interface NodeDaemon {
  readonly namespace: string;
  readonly name: string;
}

/** A hostPath volume: name, path of the node, path in containers. */
export type NodePath = readonly [name: string, path: string, mountPath: string];

/** Mounts of a container. */
export const mountsOf = (paths: readonly NodePath[]): readonly object[] =>
  paths.map(([name, , mountPath]) => ({ name, mountPath }));

/** Volumes of a pod. */
export const volumesOf = (paths: readonly NodePath[], type = "DirectoryOrCreate"): readonly object[] =>
  paths.map(([name, path]) => ({ name, hostPath: { path, type } }));

/** An environment variable with a field of the pod. */
export const fieldVariable = (name: string, fieldPath: string): object => ({ name, valueFrom: { fieldRef: { fieldPath } } });

/** A DaemonSet whose service account has its name, or the name in `spec`. */
export function daemonSet({ namespace, name }: NodeDaemon, spec: Readonly<Record<string, unknown>>): object {
  const labels = { "k8s-app": name };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          hostNetwork: true,
          priorityClassName: "system-node-critical",
          terminationGracePeriodSeconds: 1,
          tolerations: ["NoSchedule", "NoExecute"].map((effect) => ({ operator: "Exists", effect })),
          ...spec,
        },
      },
    },
  };
}

/** Waits for the rollout. Throws with the log of the daemon's pods. */
export async function rolledOut(cluster: Cluster, { namespace, name }: NodeDaemon): Promise<void> {
  await cluster
    .succeed("-n", namespace, "rollout", "status", `daemonset/${name}`, "--timeout=240s")
    .catch(async (error: unknown) => {
      const log = await cluster.kubectl("-n", namespace, "logs", `daemonset/${name}`, "--all-containers", "--tail=40");
      throw new Error(`${String(error)}\n${log.stdout}${log.stderr}\n${await explained(cluster)}`, { cause: error });
    });
}

/** Deletes the DaemonSet and waits for the end of its pods. */
export async function endDaemon(cluster: Cluster, { namespace, name }: NodeDaemon): Promise<void> {
  await cluster.succeed("-n", namespace, "delete", `daemonset/${name}`, "--cascade=foreground", "--timeout=180s");
}
