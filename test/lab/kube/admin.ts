// The official Kubernetes client with all rights, with which tests change a cluster.

import { readFileSync } from "node:fs";

import { CoreV1Api, KubernetesObjectApi, type KubernetesObject } from "@kubernetes/client-node";
import { parseAllDocuments } from "yaml";

import { clientConfig } from "./client-config.ts";

export interface AdminClient {
  readonly objects: KubernetesObjectApi;
  readonly core: CoreV1Api;
}

/** Makes the clients of a kubeconfig. */
export function adminClient(kubeconfig: string): AdminClient {
  const config = clientConfig(kubeconfig);
  return { objects: KubernetesObjectApi.makeApiClient(config), core: config.makeApiClient(CoreV1Api) };
}

/** Creates every object of a YAML file. */
export async function applyFile(objects: KubernetesObjectApi, path: string): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(path, "utf8"))) {
    const object: unknown = document.toJS();
    if (!isObject(object)) throw new Error(`${path} holds a document that is not a Kubernetes object`);
    await objects.create(object);
  }
}

function isObject(value: unknown): value is KubernetesObject {
  return typeof value === "object" && value !== null && "kind" in value && "apiVersion" in value;
}
