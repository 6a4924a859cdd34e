// The API server that files share: what a file made, changed and deleted is as new for the next file.

import { AuthorizationV1Api, type KubernetesObject } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { kubeApi } from "../lab/kube/binaries.ts";
import { clientConfig } from "../lab/kube/client-config.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const user = "visitor";
const metadata = { name: "widgets.example.org" };
const names = { plural: "widgets", singular: "widget", kind: "Widget" };
const schema = { openAPIV3Schema: { type: "object" } };

const made: readonly object[] = [
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace: "default" } },
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata,
    spec: { group: "example.org", scope: "Cluster", names, versions: [{ name: "v1", served: true, storage: true, schema }] },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: user },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "no-secrets" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
      },
      validations: [{ expression: "false" }],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "no-secrets" },
    spec: { policyName: "no-secrets", validationActions: ["Deny"] },
  },
];

const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "plexus" } };
const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "key", namespace: "default" } };

/** Whether RBAC lets the user read pods. */
async function mayRead(kubeconfig: string): Promise<boolean | undefined> {
  const spec = { user, resourceAttributes: { verb: "get", resource: "pods", namespace: "default" } };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
  const review = clientConfig(kubeconfig).makeApiClient(AuthorizationV1Api).createSubjectAccessReview({ body });
  return (await review).status?.allowed;
}

describe.skipIf(missing("the shared API server", privateNamespaces, kubeApi))("the shared API server", () => {
  test("is the same one for the next file, without what the file before made, changed or deleted", async () => {
    const first = await sharedApiServer();
    const ruleBefore = (await first.admin.read(role)) as KubernetesObject & { readonly rules: unknown };
    for (const object of made) await first.admin.create(object as KubernetesObject);
    await expect.poll(() => mayRead(first.adminKubeconfig)).toBe(true);
    const widget = { apiVersion: "example.org/v1", kind: "Widget", metadata: { name: "one" } };
    await expect.poll(() => first.admin.create(widget).catch(() => undefined)).toBeDefined();
    await expect.poll(() => first.admin.create(secret, undefined, "All").catch(() => "refused")).toBe("refused");
    await first.admin.delete(role);
    await first.dispose();

    const second = await sharedApiServer();
    expect(second.url).toBe(first.url);
    for (const object of made)
      await expect(second.admin.read(object as KubernetesObject & { metadata: { name: string } })).rejects.toMatchObject({
        code: 404,
      });
    expect(await second.admin.read(role)).toMatchObject({ rules: ruleBefore.rules });
    expect(await mayRead(second.adminKubeconfig)).toBe(false);
    expect(await second.admin.create(secret, undefined, "All")).toMatchObject(secret);
    // A kind of the same name begins without objects.
    await second.admin.create(made[1] as KubernetesObject);
    await expect.poll(() => second.admin.list("example.org/v1", "Widget").catch(() => undefined)).toMatchObject({ items: [] });
    await second.dispose();
  });
});
