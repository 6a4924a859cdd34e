// Ports in Kuryr's form, written to a real API server by the writer of plexus-controller.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { KuryrWriter } from "../../features/external-ports/controller/kuryr.ts";
import type { ExternalPort } from "../../features/external-ports/rules/external-port.ts";
import { kuryrVifAnnotation } from "../../features/external-ports/rules/kuryr-vifs.ts";
import { compat } from "../../src/npwg/profile.ts";
import { objectsOf } from "../lab/kube/apply.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { accountRequests, controllerAccount } from "../lab/kube/controller-account.ts";
import { helm } from "../lab/kube/helm.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const collection = "/apis/openstack.org/v1/namespaces/shop/kuryrports";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const kuryrRequests = ["kuryrports", "kuryrports/status"].flatMap((resource) =>
  ["get", "create", "update", "delete"].map((verb) => `${verb} ${resource}`),
);

/** The definition as far as its readers need it. Kuryr's releases have it with and without the subresource. */
function kuryrDefinition(hasSubresource: boolean): Record<string, unknown> {
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "kuryrports.openstack.org" },
    spec: {
      group: "openstack.org",
      scope: "Namespaced",
      names: { kind: "KuryrPort", plural: "kuryrports", singular: "kuryrport" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } },
          ...(hasSubresource ? { subresources: { status: {} } } : {}),
        },
      ],
    },
  };
}

function externalPort({ uid }: Pick<CreatedPod, "uid">, index: number, isActive: boolean): ExternalPort {
  const condition = { type: "Active", status: isActive ? "True" : "False", reason: "Test", message: "", lastTransitionTime: "" };
  return {
    namespace: "shop",
    name: `${uid}-${index}`,
    uid: `uid-${index}`,
    resourceVersion: "1",
    generation: 1,
    isDeleted: false,
    finalizers: [],
    spec: {
      podName: "web",
      podUid: uid,
      nodeName: "node",
      index,
      definition: { namespace: "shop", name: "fabric" },
      provider: "neutron",
      parameters: "{}",
      requested: {},
    },
    port: {
      providerId: `0f3c2a1e-5d7b-4c59-9a53-7d1c6f0f7a1${index}`,
      mac: `fa:16:3e:00:00:0${index}`,
      addresses: [{ address: `10.9.0.${index + 5}/24`, gateway: "10.9.0.1" }],
      routes: [],
      mtu: 1442,
      binding: { type: "address-only" },
    },
    conditions: [condition],
  } as unknown as ExternalPort;
}

/** The vifs' members `active`, by interface. */
function activeOf(vifs: object): object {
  return Object.fromEntries(Object.entries(vifs).map(([name, vif]) => [name, vif["versioned_object.data"].active]));
}

describe.skipIf(missing("ports in Kuryr's form", privateNamespaces, kubeApi, helm))("ports in Kuryr's form", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  /** The account of plexus-controller with the chart's rights and policy. */
  let controller: ApiObjects;
  let log: string[] = [];
  const writer = (settings: { annotation?: boolean; kuryrPorts?: boolean }): KuryrWriter => {
    const context = partContext(controller, { log: (_, text) => log.push(text) });
    return new KuryrWriter(context, { annotation: false, kuryrPorts: false, bridge: "br-int", ...settings }, compat);
  };
  const stored = async (path: string): Promise<Record<string, never> | undefined> => {
    const answer = await objects.get(path);
    return answer.kind === "object" ? (answer.object as Record<string, never>) : undefined;
  };
  const annotation = async (): Promise<object> => {
    const metadata = (await stored("/api/v1/namespaces/shop/pods/web"))?.["metadata"];
    return JSON.parse(metadata?.["annotations"]?.[kuryrVifAnnotation] ?? "{}");
  };
  const selection = [{ name: "plain" }, { name: "fabric", interface: "storage0" }, { name: "fabric" }];

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: [...networkRequests, ...kuryrRequests, ...accountRequests] });
    objects = objectsOf(api.adminKubeconfig);
    for (const name of ["shop", "network"]) await api.namespace(name);
    const values = ["enabled", "kuryr.annotation", "kuryr.kuryrPorts"].map((each) => `externalPorts.${each}=true`);
    controller = await controllerAccount(api, objects, "kuryr", ...values);
  });
  afterEach(async () => {
    log = [];
    await api.deletePod("shop", "web").catch(() => undefined);
    await objects.remove(`${collection}/web`);
  });
  afterAll(async () => {
    controller?.close();
    objects?.close();
    await api?.dispose();
  });

  test("KuryrPorts are not written while the API has no definition of them, which the log says once", async () => {
    const pod = await api.pod("shop", "web", selection);
    const kuryr = writer({ kuryrPorts: true });
    for (let look = 0; look < 2; look++) {
      expect(await kuryr.write("shop", "web", [externalPort(pod, 1, false)])).toEqual({ kind: "done" });
    }
    expect(log).toEqual([expect.stringContaining("kuryrports.openstack.org")]);
  });

  test("KU-12 the pod's annotation has its interfaces by the node's names, and again when the fabric forwards", async () => {
    const pod = await api.pod("shop", "web", selection);
    const kuryr = writer({ annotation: true });
    await kuryr.write("shop", "web", [externalPort(pod, 1, false), externalPort(pod, 2, false)]);
    expect(activeOf(await annotation())).toEqual({ net3: false, storage0: false });
    await kuryr.write("shop", "web", [externalPort(pod, 1, true), externalPort(pod, 2, true)]);
    expect(activeOf(await annotation())).toEqual({ net3: true, storage0: true });
    // A port of an earlier pod of the name is none of this pod's.
    await kuryr.write("shop", "web", [externalPort({ uid: "earlier" }, 1, false), externalPort(pod, 2, true)]);
    expect(activeOf(await annotation())).toEqual({ net3: true });
  });

  test.each([
    ["without", false],
    ["with", true],
  ])(
    "KU-13 a KuryrPort has the pod, its node and the interfaces (definition %s a status subresource)",
    async (_, hasSubresource) => {
      const made = await objects.create(definitions, kuryrDefinition(hasSubresource));
      expect(made.kind).toBe("object");
      const mirror = { "kubernetes.io/config.source": "file", "kubernetes.io/config.mirror": "5f1c" };
      // The second pod is a static one.
      const isStatic = hasSubresource;
      const pod = await api.pod("shop", "web", selection, isStatic ? mirror : {});
      const kuryr = writer({ kuryrPorts: true });
      const ports = [externalPort(pod, 1, false), externalPort(pod, 2, false)];
      // The API serves a new definition after a moment.
      await expect.poll(async () => (await kuryr.write("shop", "web", ports), stored(`${collection}/web`))).toBeDefined();
      const port = await stored(`${collection}/web`);
      expect(port).toMatchObject({
        metadata: {
          labels: { "kuryr.openstack.org/nodeName": "node" },
          ownerReferences: [{ kind: "Pod", name: "web", uid: pod.uid }],
        },
        spec: { podUid: pod.uid, podNodeName: "node", podStatic: isStatic },
      });
      const vifs = async (): Promise<object> => (await stored(`${collection}/web`))?.["status"]?.["vifs"] ?? {};
      const states = async (): Promise<object> =>
        Object.fromEntries(
          Object.entries(await vifs()).map(([name, { vif, ...rest }]) => [name, { ...rest, ...activeOf({ vif }) }]),
        );
      expect(await states()).toEqual({ net3: { default: false, vif: false }, storage0: { default: false, vif: false } });
      await kuryr.write("shop", "web", [externalPort(pod, 2, true)]);
      expect(await states()).toEqual({ net3: { default: false, vif: true } });
      // The ports are released: the object goes.
      await kuryr.write("shop", "web", []);
      expect(await stored(`${collection}/web`)).toBeUndefined();
      await objects.remove(`${definitions}/kuryrports.openstack.org`);
      await expect.poll(async () => stored(`${definitions}/kuryrports.openstack.org`)).toBeUndefined();
    },
  );

  test("Kuryr's own KuryrPort is not changed, and one of an earlier pod is replaced", async () => {
    await objects.create(definitions, kuryrDefinition(false));
    const pod = await api.pod("shop", "web", selection);
    const foreign = { apiVersion: "openstack.org/v1", kind: "KuryrPort", metadata: { name: "web" }, spec: { podUid: pod.uid } };
    await expect.poll(async () => (await objects.create(collection, foreign)).kind).toBe("object");
    const kuryr = writer({ kuryrPorts: true });
    await kuryr.write("shop", "web", [externalPort(pod, 1, true)]);
    expect(await stored(`${collection}/web`)).not.toHaveProperty("status");
    expect(log).toEqual([expect.stringContaining("is not Plexus' own")]);
    await objects.remove(`${collection}/web`);
    const earlier = { ...foreign, metadata: { name: "web", labels: { "app.kubernetes.io/managed-by": "plexus-controller" } } };
    await objects.create(collection, { ...earlier, spec: { podUid: "earlier" } });
    expect(await kuryr.write("shop", "web", [externalPort(pod, 1, true)])).toMatchObject({ kind: "again" });
    expect(await kuryr.write("shop", "web", [externalPort(pod, 1, true)])).toEqual({ kind: "done" });
    expect(await stored(`${collection}/web`)).toMatchObject({
      spec: { podUid: pod.uid },
      status: { vifs: { storage0: { default: false } } },
    });
    await objects.remove(`${definitions}/kuryrports.openstack.org`);
  });
});
