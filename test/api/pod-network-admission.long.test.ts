// KEP-3698's rules at admission: CustomResourceDefinitions and admission policies on a real API server, without any webhook.

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";

describe.skipIf(missing("PodNetworks on a Kubernetes API", privateNamespaces, kubeApi))("an API server with PodNetworks", () => {
  let api: ApiServer;
  const { pod, podNetwork, attachment } = networkObjects;
  let objects: ApiObjects;
  const create = async (object: ApiObject & KubernetesObject): Promise<ApiObject | string> =>
    outcome(await objects.create(collectionOf(object), object));
  const patch = async (object: KubernetesObject, change: object, subresource = ""): Promise<ApiObject | string> =>
    outcome(await objects.patch(`${collectionOf(object)}/${object.metadata?.name}${subresource}`, change));
  let count = 0;
  const bind = async (name: string, metadata: object): Promise<ApiObject | string> => {
    const named = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace: "shop", ...metadata } };
    const target = { apiVersion: "v1", kind: "Node", name: "n1" };
    return outcome(await objects.create(`/api/v1/namespaces/shop/pods/${name}/binding`, { ...named, target }));
  };
  const createPod = (networks: unknown, more: Parameters<typeof pod>[2] = {}): Promise<ApiObject | string> => {
    count += 1;
    return create(
      pod(`p${count}`, typeof networks === "string" || networks === undefined ? networks : JSON.stringify(networks), more),
    );
  };

  /** The API server compiles policies some time after their creation. */
  const policiesActive = async (): Promise<void> => {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await new Promise((resolve) => setTimeout(resolve, 250))) {
      const [refused, populated] = [await createPod([{ podNetworkName: "secret" }]), await createPod(undefined)];
      const isPopulated = typeof populated !== "string" && JSON.stringify(populated).includes("plexus.dev/networks");
      if (typeof refused === "string" && refused.includes("may not use") && isPopulated) return;
    }
    throw new Error("the admission policies are not active after 60 s");
  };

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: networkRequests });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/networks.yaml");
    await api.namespace("shop");
    await api.namespace("blue-shop");
    await vi.waitFor(() => api.admin.create(podNetwork("default")), { timeout: 60_000, interval: 100 });
    for (const name of ["blue", "red", "secret"]) await api.admin.create(podNetwork(name));
    await api.admin.create({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "use" },
      rules: [
        { apiGroups: ["plexus.dev"], resources: ["podnetworks"], resourceNames: ["blue", "red"], verbs: ["use"] },
        { apiGroups: ["plexus.dev"], resources: ["podnetworkattachments"], verbs: ["use"] },
      ],
    } as KubernetesObject);
    await api.admin.create({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "use", namespace: "shop" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "use" },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: "shop" }],
    } as KubernetesObject);
    await policiesActive();
  });
  afterAll(async () => {
    objects?.close();
    await api?.dispose();
  });

  test("KE-01 KE-02: a PodNetwork is cluster-scoped, has a status, and is enabled by default", async () => {
    const read = outcome(await objects.get("/apis/plexus.dev/v1alpha1/podnetworks/blue"));
    expect(read).toMatchObject({ spec: { enabled: true, provider: "k8s.cni.cncf.io/plexus" } });
    expect(await patch(podNetwork("blue"), { status: { phase: "Ready" } }, "/status")).toMatchObject({
      status: { phase: "Ready" },
    });
  });

  test.each(["foo.io/bar", "k8s.cni.cncf.io/multus"])("KE-04: the provider %j is accepted", async (provider) => {
    count += 1;
    expect(await create(podNetwork(`x${count}`, { provider }))).toMatchObject({ spec: { provider } });
  });

  test.each(["Foo/bar", "foo.io", "", 5])("KE-04: the provider %j is refused", async (provider) => {
    count += 1;
    expect(await create(podNetwork(`x${count}`, { provider }))).toContain("spec.provider");
  });

  test("KE-15 KE-18: a PodNetwork is immutable, except for enabled", async () => {
    expect(await patch(podNetwork("red"), { spec: { provider: "foo.io/bar" } })).toContain(
      "a PodNetwork is immutable, except for spec.enabled",
    );
    const refs = [{ group: "a", kind: "b", name: "c" }];
    expect(await patch(podNetwork("red"), { spec: { parametersRefs: refs } })).toContain("immutable");
    expect(await patch(podNetwork("red"), { spec: { enabled: false } })).toMatchObject({
      spec: { enabled: false },
    });
  });

  test("KE-03 KE-18 KE-53: each of several parametersRefs has texts", async () => {
    const ref = { group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", name: "a", namespace: "shop" };
    expect(await create(podNetwork("refs", { parametersRefs: [ref, { ...ref, name: "b" }] }))).toMatchObject({
      spec: { parametersRefs: [ref, { ...ref, name: "b" }] },
    });
    expect(await create(podNetwork("refs2", { parametersRefs: [{ group: 1, kind: "b" }] }))).toContain("parametersRefs[0]");
  });

  test("KE-19 KE-22 KE-24 KE-25: an attachment names one PodNetwork and is immutable", async () => {
    expect(await create(attachment("fast", "blue"))).toMatchObject({ spec: { podNetworkName: "blue" } });
    expect(await patch(attachment("fast", "blue"), { spec: { podNetworkName: "red" } })).toContain(
      "a PodNetworkAttachment is immutable",
    );
    expect(await create({ ...attachment("none", "blue"), spec: {} })).toContain("podNetworkName");
  });

  test("KE-30 KE-54: the default PodNetwork cannot be deleted, only replaced", async () => {
    const answer = await objects.remove("/apis/plexus.dev/v1alpha1/podnetworks/default");
    expect(outcome(answer)).toContain('the PodNetwork "default" cannot be deleted');
  });

  test("KE-28 KE-45 KE-54: a pod without networks gets the default one, and no gate", async () => {
    const made = await createPod(undefined);
    expect(made).toMatchObject({ metadata: { annotations: { "plexus.dev/networks": '[{"podNetworkName":"default"}]' } } });
    expect(made).not.toMatchObject({ spec: { schedulingGates: expect.anything() } });
  });

  test("KE-34 KE-59: a namespace has a default PodNetwork of its own, which its pods may use", async () => {
    const annotations = { "plexus.dev/default-podnetwork": "secret" };
    await objects.patch("/api/v1/namespaces/blue-shop", { metadata: { annotations } });
    await vi.waitFor(
      async () =>
        expect(await createPod(undefined, { namespace: "blue-shop" })).toMatchObject({
          metadata: { annotations: { "plexus.dev/networks": '[{"podNetworkName":"secret"}]' } },
        }),
      { timeout: 60_000, interval: 250 },
    );
  });

  test("KE-41 KE-45: a pod with hostNetwork has no networks", async () => {
    const made = await createPod(undefined, { spec: { hostNetwork: true } });
    expect(made).toMatchObject({ kind: "Pod" });
    expect(made).not.toMatchObject({ metadata: { annotations: expect.anything() } });
    expect(await createPod([{ podNetworkName: "blue" }], { spec: { hostNetwork: true } })).toContain(
      "cannot be set with hostNetwork",
    );
  });

  test("KE-37 KE-43: a pod that names networks waits behind a gate", async () => {
    const text = '[ {"podNetworkName": "default"}, {"interfaceName":"net1", "podNetworkName":"blue", "isDefaultGW4": true} ]';
    expect(await createPod(text)).toMatchObject({
      metadata: { annotations: { "plexus.dev/networks": text }, labels: { "plexus.dev/networks": "gated" } },
      spec: { schedulingGates: [{ name: "plexus.dev/networks-ready" }] },
    });
  });

  test("a pod that has a node already gets no gate, which Kubernetes would refuse", async () => {
    const made = await createPod([{ podNetworkName: "blue" }], { spec: { nodeName: "n1" } });
    expect(made).toMatchObject({ metadata: { labels: { "plexus.dev/networks": "placed" } } });
    expect(made).not.toMatchObject({ spec: { schedulingGates: expect.anything() } });
  });

  describe("KE-25 KE-38 KE-39 KE-40 KE-42 KE-48: a mistake in a pod's networks", () => {
    test.each([
      [[{ podNetworkName: "blue" }, { podNetworkName: "blue" }], "a pod uses a PodNetwork at most once"],
      [
        [
          { podNetworkName: "blue", isDefaultGW4: true },
          { podNetworkName: "red", isDefaultGW: true },
        ],
        "isDefaultGW4 and isDefaultGW6 are true for one network at most",
      ],
      [
        [
          { podNetworkName: "blue", isDefaultGW6: true },
          { podNetworkName: "red", isDefaultGW6: true },
        ],
        "are true for one network at most",
      ],
      [
        [
          { podNetworkName: "blue", interfaceName: "a" },
          { podNetworkName: "red", interfaceName: "a" },
        ],
        "an interfaceName is used at most once",
      ],
      [[{ podNetworkName: "blue", interfaceName: "a/b" }], "must be a JSON list"],
      [
        [{ podNetworkName: "blue", podNetworkAttachmentName: "fast" }],
        "exactly one of podNetworkName and podNetworkAttachmentName",
      ],
      [[{ interfaceName: "a" }], "exactly one of podNetworkName and podNetworkAttachmentName"],
      [[], "at least one object"],
      ['[{"podNetworkNam\\u0065":"blue"}]', "strings have no escapes"],
      ['[{"podNetworkName":"blue","interfaceName":"a","interfaceName":"b"}]', "each member at most once"],
      ['[{"podNetworkName":"blue"}] trailing', "must be a JSON list"],
      ['[{"podNetworkName":"blue","x":{"podNetworkName":"secret"}}]', "must be a JSON list"],
    ])("%j is refused at once", async (networks, reason) => {
      expect(await createPod(networks)).toContain(reason);
    });
  });

  test("KE-48: networks cannot be edited or added later, not even through the status, and the label stays", async () => {
    await createPod([{ podNetworkName: "blue" }]);
    const made = pod(`p${count}`, undefined);
    const edited = { metadata: { annotations: { "plexus.dev/networks": '[{"podNetworkName":"red"}]' } } };
    for (const subresource of ["", "/status"])
      expect(await patch(made, edited, subresource)).toContain("cannot be changed after the pod was created");
    const unlabelled = { metadata: { labels: { "plexus.dev/networks": null } } };
    expect(await patch(made, unlabelled)).toContain("the label plexus.dev/networks cannot be removed");
  });

  test("KE-48: a Binding, whose annotations and labels its pod gets, cannot set networks either", async () => {
    await createPod([{ podNetworkName: "blue" }]);
    const networks = { "plexus.dev/networks": '[{"podNetworkName":"secret"}]' };
    for (const metadata of [{ annotations: networks }, { labels: { "plexus.dev/networks": "open" } }])
      expect(await bind(`p${count}`, metadata)).toContain("a Binding cannot set plexus.dev/networks");
  });

  test("KE-48: a pod that is older than the policies, with an annotation that they refuse, can still be changed and deleted", async () => {
    const policy = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/plexus-pod-networks";
    const kept = await objects.get(policy);
    await objects.remove(policy);
    const old = pod("old", "[]");
    await vi.waitFor(async () => expect(await create(old)).toMatchObject({ kind: "Pod" }), { timeout: 60_000, interval: 100 });
    const { metadata: _, ...binding } = (kept as { object: ApiObject }).object;
    await objects.create(collectionOf(binding as KubernetesObject), { ...binding, metadata: { name: "plexus-pod-networks" } });
    await policiesActive();
    expect(await patch(old, { metadata: { annotations: { more: "text" } } }, "/status")).toMatchObject({ kind: "Pod" });
    expect(await patch(old, { metadata: { annotations: { "plexus.dev/networks": null } } })).toContain("cannot be changed");
  });

  test("KE-13 KE-43: a pod with repeated list entries, which a merge cannot express, waits behind a gate like each other pod", async () => {
    const env = [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ];
    const ports = [{ containerPort: 80 }, { containerPort: 80 }];
    expect(
      await createPod([{ podNetworkName: "blue" }], { spec: { containers: [{ name: "main", image: "none", env, ports }] } }),
    ).toMatchObject({
      metadata: { labels: { "plexus.dev/networks": "gated" } },
      spec: { schedulingGates: [{ name: "plexus.dev/networks-ready" }] },
    });
  });

  test("KE-13: where the policy that labels pods fails or is missing, only pods that name networks are refused", async () => {
    const policies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/plexus-pod-network-gates";
    const kept = (await objects.get(policies)) as unknown as { object: { spec: { mutations: readonly object[] } } };
    const { mutations } = kept.object.spec;
    const failing = {
      patchType: "ApplyConfiguration",
      applyConfiguration: { expression: "object.spec.nodeName == '' ? Object{} : Object{}" },
    };
    const expectRefusal = (why: string): Promise<void> =>
      vi.waitFor(async () => expect(await createPod([{ podNetworkName: "blue" }])).toContain(why), {
        timeout: 60_000,
        interval: 100,
      });
    await objects.patch(policies, { spec: { mutations: [failing, ...mutations] } });
    await expectRefusal("no such key: nodeName");
    expect(await createPod(undefined)).toMatchObject({ kind: "Pod" });
    expect(await createPod([{ podNetworkName: "default" }])).toMatchObject({ kind: "Pod" });
    await objects.remove(policies);
    await expectRefusal("has not labelled the pod");
    expect(await createPod(undefined)).toMatchObject({ kind: "Pod" });
    // The API server tries policies in any order, so that a namespace's own default does not rely on the other policy.
    expect(await createPod(undefined, { namespace: "blue-shop" })).toMatchObject({
      metadata: { labels: { "plexus.dev/networks": "gated" } },
      spec: { schedulingGates: [{ name: "plexus.dev/networks-ready" }] },
    });
    const spec = { ...kept.object.spec, mutations };
    const again = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicy",
      metadata: { name: "plexus-pod-network-gates" },
    };
    await create({ ...again, spec });
    await policiesActive();
  });

  test("KE-57: the rights of a pod with many networks are checked, too", async () => {
    const names = ["blue", "red", ...Array.from({ length: 14 }, (_, index) => `many${index}`)];
    const networks = names.map((podNetworkName) => ({ podNetworkName }));
    expect(await createPod(networks)).toContain(
      'the service account "default" may not use one of podnetworks/blue, podnetworks/red, podnetworks/many0',
    );
    const verbs = { apiGroups: ["plexus.dev"], resources: ["podnetworks"], resourceNames: names, verbs: ["use"] };
    await objects.patch("/apis/rbac.authorization.k8s.io/v1/clusterroles/use", {
      rules: [verbs, { ...verbs, resources: ["podnetworkattachments"], resourceNames: undefined }],
    });
    await vi.waitFor(async () => expect(await createPod(networks)).toMatchObject({ kind: "Pod" }), {
      timeout: 60_000,
      interval: 250,
    });
    expect(await createPod([...networks, { podNetworkName: "secret" }])).toContain("at most 16");
  });

  test("KE-59: the editor of a namespace needs the verb use for its default PodNetwork", async () => {
    const rules = [{ apiGroups: [""], resources: ["namespaces", "namespaces/status"], verbs: ["get", "patch"] }];
    const rbac = "rbac.authorization.k8s.io";
    await api.admin.create({
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: "edit-namespaces" },
      rules,
    } as KubernetesObject);
    await api.admin.create({
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "edit-namespaces" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "edit-namespaces" },
      subjects: [{ kind: "User", apiGroup: rbac, name: "tenant" }],
    } as KubernetesObject);
    const tenant = objectsOf(api.kubeconfig("tenant"));
    const setting = async (network: string | null, subresource = ""): Promise<ApiObject | string> =>
      outcome(
        await tenant.patch(`/api/v1/namespaces/shop${subresource}`, {
          metadata: { annotations: { "plexus.dev/default-podnetwork": network } },
        }),
      );
    try {
      for (const subresource of ["", "/status"])
        expect(await setting("secret", subresource)).toContain(
          'you may not make the PodNetwork "secret" the default of a namespace',
        );
      expect(await setting('x"},{"podNetworkName":"secret')).toContain("must be the name of a PodNetwork");
      expect(await setting("default")).toMatchObject({ kind: "Namespace" });
      expect(await setting(null)).toMatchObject({ kind: "Namespace" });
    } finally {
      tenant.close();
    }
  });

  test("KE-57: a pod's service account needs the verb use, and an attachment's author too", async () => {
    expect(await createPod([{ podNetworkName: "secret" }])).toContain(
      'the service account "default" may not use one of podnetworks/secret',
    );
    expect(await createPod([{ podNetworkName: "blue" }], { namespace: "blue-shop" })).toContain("may not use");
    expect(await createPod([{ podNetworkAttachmentName: "fast" }], { namespace: "blue-shop" })).toContain(
      "may not use one of podnetworkattachments/fast",
    );
    expect(await createPod([{ podNetworkAttachmentName: "fast" }])).toMatchObject({ kind: "Pod" });
  });
});
