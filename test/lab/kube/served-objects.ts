// Waits until an API server acts by the objects in its etcd. RBAC, admission policies and custom resources follow their objects a little later:
// an object that is made last, and has its effect, shows that the changes before it have theirs.

import { AuthorizationV1Api, type KubernetesObject, KubernetesObjectApi } from "@kubernetes/client-node";

import { clientConfig } from "./client-config.ts";

/** The name of each object of this file, and of the user and the ConfigMap that they are about. */
const name = "tests-barrier";
const pauseMs = 20;
const timeoutMs = 120_000;

type Clients = { readonly objects: KubernetesObjectApi; readonly authorization: AuthorizationV1Api };

/** Resolves when the server acts by these changed keys of etcd. */
export async function untilServed(kubeconfig: string, changedKeys: readonly string[]): Promise<void> {
  const config = clientConfig(kubeconfig);
  const clients = { objects: KubernetesObjectApi.makeApiClient(config), authorization: config.makeApiClient(AuthorizationV1Api) };
  const has = (...folders: readonly string[]): boolean =>
    changedKeys.some((key) => folders.some((folder) => key.startsWith(`/registry/${folder}/`)));
  await Promise.all([
    has("roles", "rolebindings", "clusterroles", "clusterrolebindings") && untilRights(clients),
    has("validatingadmissionpolicies", "validatingadmissionpolicybindings") && untilValidated(clients),
    has("mutatingadmissionpolicies", "mutatingadmissionpolicybindings") && untilMutated(clients),
  ]);
}

/** A role and a binding in the cluster, and the same in a namespace: each of these four kinds has a watch of its own. */
async function untilRights({ objects, authorization }: Clients): Promise<void> {
  const group = "rbac.authorization.k8s.io";
  const role = (kind: "ClusterRole" | "Role", resource: string): object => ({
    apiVersion: `${group}/v1`,
    kind,
    rules: [{ apiGroups: [""], resources: [resource], verbs: ["get"] }],
  });
  const binding = (kind: "ClusterRole" | "Role"): object => ({
    apiVersion: `${group}/v1`,
    kind: `${kind}Binding`,
    subjects: [{ apiGroup: group, kind: "User", name }],
    roleRef: { apiGroup: group, kind, name },
  });
  const may = async (resource: string): Promise<boolean> => {
    const spec = { user: name, resourceAttributes: { namespace: "default", verb: "get", resource } };
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
    return (await authorization.createSubjectAccessReview({ body: review })).status?.allowed === true;
  };
  const made = [role("ClusterRole", "configmaps"), binding("ClusterRole"), role("Role", "services"), binding("Role")];
  await during(objects, made, async () => (await may("configmaps")) && may("services"));
}

const matched = {
  matchConstraints: {
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
  },
  matchConditions: [{ name: "barrier", expression: `object.metadata.name == '${name}'` }],
};

async function untilValidated({ objects }: Clients): Promise<void> {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const validations = [{ expression: "false" }];
  const policy = { apiVersion, kind: "ValidatingAdmissionPolicy", spec: { ...matched, validations } };
  const spec = { policyName: name, validationActions: ["Deny"] };
  const binding = { apiVersion, kind: "ValidatingAdmissionPolicyBinding", spec };
  await during(objects, [policy, binding], async () => (await triedConfigMap(objects)) === undefined);
}

async function untilMutated({ objects }: Clients): Promise<void> {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const expression = `Object{metadata: Object.metadata{labels: {"${name}": "seen"}}}`;
  const mutations = [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }];
  const policy = { apiVersion, kind: "MutatingAdmissionPolicy", spec: { ...matched, reinvocationPolicy: "Never", mutations } };
  const binding = { apiVersion, kind: "MutatingAdmissionPolicyBinding", spec: { policyName: name } };
  await during(objects, [policy, binding], async () => (await triedConfigMap(objects))?.metadata?.labels?.[name] !== undefined);
}

/** The ConfigMap that a dry run of its creation answers; undefined if the API server refuses the creation. */
async function triedConfigMap(objects: KubernetesObjectApi): Promise<KubernetesObject | undefined> {
  const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } };
  return objects.create(configMap, undefined, "All").catch((error: unknown) => {
    if (!(error instanceof Error) || !error.message.includes(name)) throw error;
    return undefined;
  });
}

/** Waits for `isSeen` while the objects exist. */
async function during(objects: KubernetesObjectApi, made: readonly object[], isSeen: () => Promise<boolean>): Promise<void> {
  const named = made.map((each) => ({ ...each, metadata: { name, namespace: "default" } }) as KubernetesObject);
  for (const object of named) await objects.create(object);
  const deadline = performance.now() + timeoutMs;
  while (!(await isSeen())) {
    if (performance.now() > deadline)
      throw new Error(`the API server does not act by ${named.map(({ kind }) => kind).join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  for (const object of named) await objects.delete(object);
}
