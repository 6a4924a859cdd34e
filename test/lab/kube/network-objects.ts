// Objects of KEP-3698 for tests.

import type { KubernetesObject } from "@kubernetes/client-node";

type NetworkObject = KubernetesObject & Readonly<Record<string, unknown>>;

interface PodInit {
  readonly namespace?: string;
  readonly spec?: object;
}

export const networkObjects = {
  /** A pod of the namespace `shop`, with the annotation `networks` if given. */
  pod(name: string, networks: string | undefined, { namespace = "shop", spec = {} }: PodInit = {}): NetworkObject {
    const annotations = networks === undefined ? {} : { annotations: { "plexus.dev/networks": networks } };
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, ...annotations },
      spec: { containers: [{ name: "main", image: "none" }], automountServiceAccountToken: false, ...spec },
    };
  },

  podNetwork(name: string, spec: object = {}): NetworkObject {
    return {
      apiVersion: "plexus.dev/v1alpha1",
      kind: "PodNetwork",
      metadata: { name },
      spec: { provider: "k8s.cni.cncf.io/plexus", ...spec },
    };
  },

  attachment(name: string, podNetworkName: string, spec: object = {}): NetworkObject {
    return {
      apiVersion: "plexus.dev/v1alpha1",
      kind: "PodNetworkAttachment",
      metadata: { name, namespace: "shop" },
      spec: { podNetworkName, ...spec },
    };
  },
};
