// Creates the objects of a YAML file with Plexus' client. The official one drops members of CustomResourceDefinitions whose names its models change
// (`default`, `x-kubernetes-validations`).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { KubernetesObject } from "@kubernetes/client-node";
import {
  type ApiObject,
  ApiObjects,
  type ApiObjectsInit,
  type ObjectAnswer,
  objectSockets,
} from "../../../host/cluster/kube/api-objects.ts";
import { keptCredentials } from "../../../host/cluster/kube/kept-credentials.ts";
import { root } from "../compiled.ts";
import { systemClock } from "../../../host/system/clock.ts";
import { Connection } from "../../../host/cluster/kube/connection.ts";

/** Plexus' client with the rights of a kubeconfig. */
export function objectsOf(kubeconfig: string, more: Pick<ApiObjectsInit, "onRequest"> = {}): ApiObjects {
  return new ApiObjects({
    ...more,
    connection: new Connection(systemClock, objectSockets),
    credentials: keptCredentials(kubeconfig, { allowInsecure: false }, () => undefined, systemClock),
  });
}

/** Creates each object of a file of the repository, or those of one kind. */
export async function applyObjects(objects: ApiObjects, file: string, kind?: string): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(join(root, file), "utf8"))) {
    const object: KubernetesObject & ApiObject = document.toJS();
    if (kind !== undefined && object.kind !== kind) continue;
    const made = await objects.create(collectionOf(object), object);
    if (made.kind !== "object") throw new Error(`${file}: ${object.kind} ${object.metadata?.name}: ${made.why}`);
  }
}

/** The path of an object's collection. */
export function collectionOf({ apiVersion, kind = "", metadata }: KubernetesObject): string {
  const prefix = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  if (kind === "NetworkAttachmentDefinition") return `${prefix}/namespaces/${metadata?.namespace}/network-attachment-definitions`;
  if (kind === "MultiNetworkPolicy") return `${prefix}/namespaces/${metadata?.namespace}/multi-networkpolicies`;
  const plural = kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  return `${prefix}${metadata?.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`}/${plural.toLowerCase()}`;
}

/** The object, or the server's refusal. */
export function outcome(answer: ObjectAnswer): ApiObject | string {
  return answer.kind === "object" ? answer.object : answer.why.replaceAll('\\"', '"');
}
