// Server-side apply with strict validation, as `kubectl apply --server-side --validate=strict` sends it.

import { request } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import type { Manifest } from "./chart.ts";

/** Kinds of the chart: the plural, and whether objects are in a namespace. */
const kinds: Readonly<Record<string, readonly [plural: string, namespaced: boolean]>> = {
  ClusterRole: ["clusterroles", false],
  ClusterRoleBinding: ["clusterrolebindings", false],
  ConfigMap: ["configmaps", true],
  CustomResourceDefinition: ["customresourcedefinitions", false],
  DaemonSet: ["daemonsets", true],
  Deployment: ["deployments", true],
  Job: ["jobs", true],
  MutatingAdmissionPolicy: ["mutatingadmissionpolicies", false],
  MutatingAdmissionPolicyBinding: ["mutatingadmissionpolicybindings", false],
  NetworkAttachmentDefinition: ["network-attachment-definitions", true],
  Pod: ["pods", true],
  Role: ["roles", true],
  RoleBinding: ["rolebindings", true],
  Service: ["services", true],
  ServiceAccount: ["serviceaccounts", true],
  ValidatingAdmissionPolicy: ["validatingadmissionpolicies", false],
  ValidatingAdmissionPolicyBinding: ["validatingadmissionpolicybindings", false],
};

/** Applies the objects in order. Answers the refusals: kind, name, and the server's message. */
export async function applyAll(
  kubeconfig: string,
  objects: readonly Manifest[],
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<readonly string[]> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const refusals: string[] = [];
  for (const object of objects) {
    const { status, body } = await patch(config, object, dryRun);
    const warning = /"message":"((?:[^"\\]|\\.)*)"/u.exec(body)?.[1] ?? body;
    if (status !== 200 && status !== 201) refusals.push(`${object.kind} ${object.metadata.name}: ${warning}`);
  }
  return refusals;
}

function pathOf({ apiVersion, kind, metadata: { name, namespace = "default" } }: Manifest): string {
  const [plural, namespaced] = kinds[kind] ?? [];
  if (plural === undefined) throw new Error(`the kind ${kind} is not in the table`);
  const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${base}${namespaced === true ? `/namespaces/${namespace}` : ""}/${plural}/${name}`;
}

async function patch(
  config: KubeConfig,
  object: Manifest,
  dryRun: boolean,
): Promise<{ readonly status: number; readonly body: string }> {
  const query = `fieldManager=test&force=true&fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`;
  const options = { method: "PATCH", headers: { "content-type": "application/apply-patch+yaml" } };
  await config.applyToHTTPSOptions(options);
  const url = new URL(`${pathOf(object)}?${query}`, config.getCurrentCluster()?.server);
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly body: string }>();
  const sent = request(url, options, (answer) => {
    let body = "";
    answer.setEncoding("utf8");
    answer.on("data", (chunk: string) => (body += chunk));
    answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
  });
  sent.on("error", reject);
  sent.end(JSON.stringify(object));
  return promise;
}
