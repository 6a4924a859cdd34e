// The manifests of deploy/ on a real API server: validation by the CustomResourceDefinitions and the rights of RBAC.

import { join } from "node:path";

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { runCommandLine } from "../../host/programs/plexusctl/run-command-line.ts";
import { root } from "../lab/compiled.ts";
import { adminClient, type AdminClient, applyFile } from "../lab/kube/admin.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const definition = (name: string, more: object = {}): KubernetesObject => ({
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name, namespace: "default" },
  ...more,
});

describe.skipIf(missing("manifests on a Kubernetes API", privateNamespaces, kubeApi))("deploy/", () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await sharedApiServer();
  });
  afterAll(() => api?.dispose());

  const served = async (): Promise<unknown> => {
    const reading = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
    return api.admin.read({ ...reading, metadata: { name: "network-attachment-definitions.k8s.cni.cncf.io" } });
  };

  test("N1-02 the CustomResourceDefinition has the specification's names and short names", async () => {
    expect(await served()).toMatchObject({
      spec: { group: "k8s.cni.cncf.io", scope: "Namespaced", versions: [{ name: "v1", served: true, storage: true }] },
      status: {
        acceptedNames: {
          kind: "NetworkAttachmentDefinition",
          plural: "network-attachment-definitions",
          shortNames: ["net-attach-def", "nad"],
        },
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Established", status: "True" })]),
      },
    });
  });

  test("the server accepts the CustomResourceDefinition of IPAMClaims", async () => {
    await applyFile(api.admin, join(root, "deploy", "crd-ipamclaims.yaml"));
    const reading = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
    const claims = { ...reading, metadata: { name: "ipamclaims.k8s.cni.cncf.io" } };
    await expect
      .poll(() => api.admin.read(claims))
      .toMatchObject({
        status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "Established", status: "True" })]) },
      });
  });

  test("N1-03 spec and spec.config are optional, and a config is stored unchanged", async () => {
    const config = '{ "cniVersion": "0.3.1",\n "type": "bridge", "n": 12345678901234567890 }';
    for (const each of [definition("bare"), definition("empty", { spec: {} }), definition("full", { spec: { config } })]) {
      await api.admin.create(each);
    }
    expect(await api.admin.read(definitionRef("full"))).toMatchObject({ spec: { config } });
    expect(await api.admin.read(definitionRef("bare"))).not.toHaveProperty("spec");
  });

  test.each([
    ["an object", { type: "bridge" }],
    ["an array", ["bridge"]],
    ["a number", 5],
  ])("N1-03 a config that is %s is refused", async (_, config) => {
    await expect(api.admin.create(definition("wrong", { spec: { config } }))).rejects.toMatchObject({
      code: 422,
      body: expect.stringMatching(/spec\.config: Invalid value.*must be of type string/),
    });
  });

  test("plexusctl lint --kubeconfig finds a mistake in a definition of the cluster, with the right to list definitions alone", async () => {
    const config = '{\n  "cniVersion": "1.0.0",\n  "name": "torn",\n  "plugins": [\n    { "typ": "bridge" }\n  ]\n}';
    await api.admin.create(definition("torn", { spec: { config } }));
    const metadata = { name: "linter" };
    const rules = [{ apiGroups: ["k8s.cni.cncf.io"], resources: ["network-attachment-definitions"], verbs: ["list"] }];
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata };
    await api.admin.create(Object.assign({ ...rbac, kind: "ClusterRole" }, { rules }));
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "linter" };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "linter" }];
    await api.admin.create(Object.assign({ ...rbac, kind: "ClusterRoleBinding" }, { roleRef, subjects }));
    const args = ["lint", "--kubeconfig", api.kubeconfig("linter"), "--config", "/nonexistent", "-o", "json"];
    const { status, stdout } = await runCommandLine(args, false);
    const { findings } = JSON.parse(stdout);
    const ofTorn = findings.filter(({ object }: { object: string }) => object === "default/torn");
    expect([status, ofTorn]).toEqual([1, [expect.objectContaining({ severity: "error", line: 5 })]]);
    expect(ofTorn[0].message).toContain("type");
    await api.admin.delete(definition("torn"));
  });

  describe("MO-27 the rights of Plexus", () => {
    let plexus: AdminClient;
    beforeAll(async () => {
      plexus = adminClient(api.plexus);
      await api.pod("shop", "web");
      await api.network("shop", "storage", [{ type: "bridge" }]);
    });
    const pod = { namespace: "shop", name: "web" };
    const patch = [{ op: "add", path: "/metadata/labels", value: { a: "b" } }];

    test("allow to read networks and pods and to patch a pod's status", async () => {
      expect(await plexus.objects.list("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition")).toMatchObject({
        items: expect.any(Array),
      });
      expect(await plexus.core.readNamespacedPod(pod)).toMatchObject({ metadata: { name: "web" } });
      // A daemon lists the pods of its node.
      const ofNode = await plexus.core.listPodForAllNamespaces({ fieldSelector: "spec.nodeName=node" });
      expect(ofNode.items.map(({ metadata }) => metadata?.name)).toEqual(["web"]);
      expect(await plexus.core.patchNamespacedPodStatus({ ...pod, body: patch })).toMatchObject({
        metadata: { labels: { a: "b" } },
      });
    });

    test.each<[string, (client: AdminClient) => Promise<unknown>]>([
      ["replace a pod", ({ core }) => core.replaceNamespacedPod({ ...pod, body: { metadata: pod } })],
      ["patch a pod outside of its status", ({ core }) => core.patchNamespacedPod({ ...pod, body: patch })],
      ["delete a pod", ({ core }) => core.deleteNamespacedPod(pod)],
      ["read events", ({ core }) => core.listNamespacedEvent({ namespace: "shop" })],
      ["read secrets", ({ core }) => core.listNamespacedSecret({ namespace: "kube-system" })],
      ["read config maps", ({ core }) => core.listNamespacedConfigMap({ namespace: "shop" })],
      ["read nodes", ({ core }) => core.listNode()],
      ["create a network", ({ objects }) => objects.create(definition("own"))],
      [
        "delete a network",
        ({ objects }) => objects.delete({ ...definition("storage"), metadata: { name: "storage", namespace: "shop" } }),
      ],
    ])("do not allow to %s", async (_, act) => {
      await expect(act(plexus)).rejects.toMatchObject({ code: 403 });
    });
  });

  test("a restarted API server has the objects from before", async () => {
    const made = await api.pod("shop", "stays");
    await api.stop();
    await expect(api.statusOf("shop", "stays")).rejects.toThrow(/ECONNREFUSED|connect|fetch failed/);
    await api.start();
    expect(await adminClient(api.adminKubeconfig).core.readNamespacedPod(made)).toMatchObject({ metadata: { uid: made.uid } });
  });
});

function definitionRef(name: string): KubernetesObject & { metadata: { name: string; namespace: string } } {
  return { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata: { name, namespace: "default" } };
}
