// A directory of manifests of pods and NetworkAttachmentDefinitions, which replaces an API server in tests.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Manifests {
  readonly directory: string;
  /** Writes a pod of namespace `shop` with this selection annotation. */
  pod(name: string, selection?: string | readonly object[], annotations?: Readonly<Record<string, string>>): void;
  /** Writes a definition of namespace `shop`, whose configuration list has the same name. */
  network(name: string, plugins: readonly object[], annotations?: Readonly<Record<string, string>>): void;
  /** Writes a definition with exactly this spec, by default in namespace `shop`. */
  definition(name: string, spec?: object, metadata?: object): void;
  /** CNI_ARGS as container runtimes give them. */
  argsOf(pod: string): string;
  /** The published network status of a pod, or undefined. */
  statusOf(pod: string): unknown;
}

/** The uid of a pod of the manifests. */
export const uidOf = (pod: string): string => `uid-of-${pod}`;

export function manifestsIn(directory: string): Manifests {
  mkdirSync(directory, { recursive: true });
  const write = (file: string, object: object): void => writeFileSync(join(directory, file), JSON.stringify(object));
  return {
    directory,
    pod(name, selection, more = {}) {
      const text = selection === undefined || typeof selection === "string" ? selection : JSON.stringify(selection);
      const annotations = text === undefined ? more : { ...more, "k8s.v1.cni.cncf.io/networks": text };
      const metadata = { name, namespace: "shop", uid: uidOf(name), annotations };
      write(`pod-${name}.json`, { apiVersion: "v1", kind: "Pod", metadata });
    },
    network(name, plugins, annotations = {}) {
      this.definition(name, { config: JSON.stringify({ cniVersion: "1.0.0", name, plugins }) }, { annotations });
    },
    definition(name, spec, more = {}) {
      const metadata = { name, namespace: "shop", ...more };
      const object = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata };
      write(
        `network-${metadata.namespace === "shop" ? "" : `${metadata.namespace}-`}${name}.json`,
        spec === undefined ? object : { ...object, spec },
      );
    },
    argsOf: (pod) =>
      `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_INFRA_CONTAINER_ID=x;K8S_POD_UID=${uidOf(pod)}`,
    statusOf(pod) {
      try {
        return JSON.parse(readFileSync(join(directory, "status", `shop.${pod}.json`), "utf8"));
      } catch {
        return undefined;
      }
    },
  };
}
