// Pods for tests on a cluster, of the image that every node has.

import { toolsImage } from "./images.ts";

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
