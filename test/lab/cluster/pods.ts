// Pods for tests on a cluster, of the image that every node has.

import { inNamespace, type NamespaceCommands } from "../namespaces.ts";
import { toolsImage } from "./images.ts";
import type { ClusterNode } from "./node.ts";

export interface ToolsPodInit {
  readonly namespace?: string;
  /** The name of the node. Default: the scheduler's choice. */
  readonly node?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further fields of the pod's `spec`. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** A pod with label `app: NAME` whose container sleeps until it is stopped. */
export function toolsPod(name: string, { namespace = "default", annotations = {}, ...more }: ToolsPodInit = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, annotations, labels: { app: name } },
    spec: specOf(more),
  };
}

/** A Deployment of such pods. */
export function toolsDeployment(name: string, replicas: number, init: ToolsPodInit = {}): object {
  const { namespace = "default", annotations = {}, ...more } = init;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name }, annotations }, spec: specOf(more) },
    },
  };
}

function specOf({ node, spec = {} }: Omit<ToolsPodInit, "namespace" | "annotations">): object {
  return {
    ...(node === undefined ? {} : { nodeSelector: { "kubernetes.io/hostname": node } }),
    terminationGracePeriodSeconds: 5,
    securityContext: { seccompProfile: { type: "RuntimeDefault" } },
    containers: [{ name: "main", image: toolsImage, imagePullPolicy: "Never" }],
    ...spec,
  };
}

/** Commands in the network namespace of a pod on this node. `link`: what `readlink /proc/self/ns/net` prints in the pod. Throws if the node has no such namespace. */
export function networkCommands(node: ClusterNode, link: string): NamespaceCommands {
  const inode = /\d+/u.exec(link)?.[0] ?? "";
  const { stdout } = node.run(["sh", "-c", "stat -L -c '%i %n' /run/netns/*"]);
  const path = stdout
    .split("\n")
    .find((line) => line.startsWith(`${inode} `))
    ?.slice(inode.length + 1);
  if (path === undefined) throw new Error(`no network namespace ${link} on ${node.name}: ${stdout}`);
  return inNamespace(node.on(path));
}
