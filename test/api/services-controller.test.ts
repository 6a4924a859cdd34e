// plexus-controller's part for Services on a real API server, with the account and the admission policies of the chart.

import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { KubernetesObject } from "@kubernetes/client-node";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { servicesPart } from "../../features/services/controller/part.ts";
import { endpointSlicesPath } from "../../features/services/rules/service-slice.ts";
import { controllerMetricDefinitions } from "../../host/telemetry/metrics/controller-definitions.ts";
import { MetricsOf } from "../../host/telemetry/metrics/metrics.ts";
import { collectionOf, applyObjects, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { accountRequests, controllerAccount } from "../lab/kube/controller-account.ts";
import { chart, objectsOf as objectsIn, runHelm } from "../lab/kube/chart.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { helm } from "../lab/kube/helm.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { podOn } from "../lab/kube/policy-objects.ts";
import { serviceRequests } from "../lab/kube/service-requests.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const patience = { timeout: 60_000, interval: 50 };
const services = "/api/v1/namespaces/shop/services";
const slicesPath = endpointSlicesPath("shop");

interface Slice {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly resourceVersion: string;
  };
  readonly addressType: string;
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  /** Null for a slice without endpoints. */
  readonly endpoints:
    | readonly {
        readonly addresses: readonly string[];
        readonly conditions: { readonly ready: boolean };
        readonly zone?: string;
      }[]
    | null;
}

const service = (name: string, annotations: Readonly<Record<string, string>>, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace: "shop", name, annotations, labels: { team: "a" } },
  spec: { selector: { app: "web", tier: "front" }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
});
const web = (name: string, networks: Readonly<Record<string, readonly string[]>>) => {
  const pod = podOn("shop", name, { app: "web", tier: "front" }, networks);
  return { ...pod, spec: { ...(pod as { spec?: object }).spec, nodeName: "n1" } };
};
const owner = (kind: string, name: string) => ({ apiVersion: "v1", kind, name, uid: "u" });
const forged = (labels: object, ...owners: readonly object[]): ApiObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace: "shop", name: "forged", labels, ownerReferences: owners },
  addressType: "IPv4",
  endpoints: [],
});

describe.skipIf(missing("slices of Services on a Kubernetes API", privateNamespaces, kubeApi, helm))(
  "the controller's part for Services",
  () => {
    let api: ApiServer;
    let admin: ApiObjects;
    let account: ApiObjects;
    const term = new AbortController();
    let running: Promise<void>;
    const events: string[] = [];
    const metrics = new MetricsOf(controllerMetricDefinitions);
    /** The controller's writes of slices. */
    const writes: string[] = [];
    let counted: ApiObjects;

    const create = async (object: KubernetesObject & Readonly<Record<string, unknown>>): Promise<ApiObject> => {
      const made = outcome(await admin.create(collectionOf(object), object));
      if (typeof made === "string") throw new Error(made);
      return made;
    };
    const slices = async (of: string): Promise<readonly Slice[]> => {
      const listed = await admin.list(slicesPath, { labelSelector: `kubernetes.io/service-name=${of}` });
      if (listed.kind !== "list") throw new Error(listed.why);
      return listed.items as readonly Slice[];
    };
    const addresses = async (of: string): Promise<readonly string[]> =>
      (await slices(of)).flatMap(({ endpoints }) => (endpoints ?? []).flatMap((each) => each.addresses)).toSorted();
    /** The works of the part so far. */
    const works = async (): Promise<number> => {
      const counts = [...(await metrics.text()).matchAll(/^plexus_controller_work_total\{.*\} (\d+)$/gmu)];
      return counts.reduce((all, [, count]) => all + Number(count), 0);
    };
    const ready = async (name: string, status: "True" | "False"): Promise<void> => {
      const conditions = [{ type: "Ready", status }];
      outcome(await admin.patch(`/api/v1/namespaces/shop/pods/${name}/status`, { status: { conditions } }));
    };

    beforeAll(async () => {
      api = await sharedApiServer({ alsoAllowed: [...serviceRequests, ...accountRequests] });
      admin = objectsOf(api.adminKubeconfig);
      for (const name of ["shop", "network"]) await api.namespace(name);
      await applyObjects(admin, "deploy/helm/plexus/files/services.yaml");
      const values = ["--set", "services.enabled=true"];
      for (const object of objectsIn(runHelm("template", "plexus", chart, "--namespace", "network", ...values).stdout))
        if (object.metadata.name === "plexus-service-slices") await create(object);
      account = await controllerAccount(api, admin, "plexus", "services.enabled=true");
      await create({ apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels: { "topology.kubernetes.io/zone": "z1" } } });
      // The API server compiles policies some time after their creation.
      const isChanged = async (): Promise<void> => {
        outcome(await admin.remove(`${services}/probe`));
        expect(await create(service("probe", { "plexus.dev/network": "red" }))).not.toHaveProperty("spec.selector");
      };
      await vi.waitFor(isChanged, patience);
      const groups = ["system:serviceaccounts", "system:serviceaccounts:network"];
      counted = objectsOf(api.kubeconfig("system:serviceaccount:network:plexus-controller", groups), {
        onRequest: ({ method, path }) =>
          void (path.startsWith(slicesPath) && method !== "GET" && writes.push(`${method} ${path}`)),
      });
      const context = partContext(counted, { metrics, event: (_, { message }) => void events.push(message) });
      running = servicesPart()(context).run(term.signal);
    });
    afterAll(async () => {
      term.abort();
      await running;
      account?.close();
      counted?.close();
      admin?.close();
      await api?.dispose();
    });

    test("SV-01 SV-03 SV-04 SV-08: a Service that names a network loses its selector, and has the addresses of its pods on this network", async () => {
      await create(
        web("one", { "shop/red": ["10.1.0.1", "10.1.0.2"], "shop/blue": ["10.2.0.1"], "podnetwork/wide": ["10.3.0.1"] }),
      );
      const made = await create(service("web", { "plexus.dev/network": "red" }));
      expect(made).toMatchObject({
        metadata: {
          labels: { "service.kubernetes.io/service-proxy-name": "plexus.dev", team: "a" },
          annotations: { "plexus.dev/selector": "app=web,tier=front" },
        },
      });
      await create(service("blue", { "k8s.v1.cni.cncf.io/service-network": "shop/blue" }, { clusterIP: "None" }));
      await vi.waitFor(async () => expect(await addresses("web")).toEqual(["10.1.0.1", "10.1.0.2"]), patience);
      await vi.waitFor(async () => expect(await addresses("blue")).toEqual(["10.2.0.1"]), patience);
      const [slice] = await slices("web");
      expect(slice).toMatchObject({
        metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "plexus-controller", team: "a" } },
        ports: [{ port: 8080 }],
        endpoints: [{ conditions: { ready: false }, zone: "z1" }, {}],
      });
      writes.length = 0;
      await ready("one", "True");
      await vi.waitFor(async () => expect((await slices("web"))[0]?.endpoints?.[0]?.conditions.ready).toBe(true), patience);
      await vi.waitFor(async () => expect((await slices("blue"))[0]?.endpoints?.[0]?.conditions.ready).toBe(true), patience);
      // Another Service of the network selects the pod, too.
      await vi.waitFor(async () => expect((await slices("probe"))[0]?.endpoints?.[0]?.conditions.ready).toBe(true), patience);
      const changed = [...(await slices("web")), ...(await slices("blue")), ...(await slices("probe"))];
      const paths = changed.flatMap(({ endpoints, metadata: { name } }) =>
        endpoints === null ? [] : [`PATCH ${slicesPath}/${name}`],
      );
      // The Service blue gets its slice of another family meanwhile.
      const patches = (): readonly string[] => writes.filter((each) => paths.includes(each)).toSorted();
      await vi.waitFor(() => expect(patches()).toEqual(paths.toSorted()), patience);
      // A further pod, and a network that the pod gets later.
      await create(web("two", { "shop/red": ["10.1.0.3"] }));
      await vi.waitFor(async () => expect(await addresses("web")).toContain("10.1.0.3"), patience);
      const status = [{ name: "shop/blue", interface: "net1", ips: ["10.2.0.2"] }];
      const annotations = { "k8s.v1.cni.cncf.io/network-status": JSON.stringify(status) };
      outcome(await admin.patch("/api/v1/namespaces/shop/pods/two", { metadata: { annotations } }));
      await vi.waitFor(async () => expect(await addresses("web")).toEqual(["10.1.0.1", "10.1.0.2"]), patience);
      await vi.waitFor(async () => expect(await addresses("blue")).toEqual(["10.2.0.1", "10.2.0.2"]), patience);
    });

    test("SV-04: slices that the cluster's own controller left are removed; without the annotation the selector is back and the slices go", async () => {
      const plain = await create(service("late", {}));
      expect(plain).toHaveProperty("spec.selector");
      const labels = {
        "kubernetes.io/service-name": "late",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      };
      const ofTheCluster = {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { namespace: "shop", name: "late-abcde", labels },
        addressType: "IPv4",
        endpoints: [{ addresses: ["192.168.0.1"] }],
      } as KubernetesObject & Readonly<Record<string, unknown>>;
      await create(ofTheCluster);
      outcome(await admin.patch(`${services}/late`, { metadata: { annotations: { "plexus.dev/network": "red" } } }));
      await vi.waitFor(async () => expect(await addresses("late")).toEqual(["10.1.0.1", "10.1.0.2"]), patience);
      // The Service was one of the cluster's own again for a moment: kube-controller-manager's slice is beside those of Plexus.
      await create(ofTheCluster);
      expect(await addresses("late")).toContain("192.168.0.1");
      outcome(await admin.patch(`${services}/late`, { metadata: { labels: { team: "b" } } }));
      await vi.waitFor(async () => expect(await addresses("late")).toEqual(["10.1.0.1", "10.1.0.2"]), patience);
      outcome(await admin.patch(`${services}/late`, { metadata: { annotations: { "plexus.dev/network": null } } }));
      await vi.waitFor(async () => expect(await slices("late")).toEqual([]), patience);
      const { object } = (await admin.get(`${services}/late`)) as { readonly object: ApiObject };
      expect(object).toMatchObject({ spec: { selector: { app: "web", tier: "front" } } });
      expect(JSON.stringify(object)).not.toMatch(/service-proxy-name|plexus\.dev\/selector/);
    });

    test("nobody but plexus-controller writes a slice that nodes read, and plexus-controller writes no other slice", async () => {
      expect(outcome(await admin.create(slicesPath, forged({ "plexus.dev/network": "x" })))).toContain(
        "by plexus-controller only",
      );
      expect(outcome(await account.create(slicesPath, forged({})))).toContain("its own EndpointSlices only");
      // The label of the manager alone would let the account redirect any Service: kube-proxy reads slices without the proxy's label.
      const own = { "endpointslice.kubernetes.io/managed-by": "plexus-controller", "kubernetes.io/service-name": "web" };
      const ofPlexus = { ...own, "service.kubernetes.io/service-proxy-name": "plexus.dev" };
      const refusals = [forged(own, owner("Service", "web")), forged(ofPlexus), forged(ofPlexus, owner("Service", "blue"))];
      for (const object of [...refusals, forged(ofPlexus, owner("Pod", "web"))])
        expect(outcome(await account.create(slicesPath, object))).toContain("as an owner only");
      expect(outcome(await account.create(slicesPath, forged(ofPlexus, owner("Service", "web"))))).toHaveProperty("metadata");
      const spoilt = { metadata: { labels: { "service.kubernetes.io/service-proxy-name": null } } };
      expect(outcome(await account.patch(`${slicesPath}/forged`, spoilt))).toContain("as an owner only");
      outcome(await admin.remove(`${slicesPath}/forged`));
      const [first] = await slices("web");
      const path = `${slicesPath}/${first?.metadata.name ?? ""}`;
      expect(outcome(await admin.patch(path, { endpoints: [] }))).toContain("by plexus-controller only");
      expect(outcome(await admin.patch(path, { metadata: { labels: { "plexus.dev/network": null } } }))).toContain(
        "plexus-controller only",
      );
    });

    test("the garbage collector changes the owners of a slice, and nothing else of it", async () => {
      for (const user of ["system:serviceaccount:kube-system:generic-garbage-collector", "system:kube-controller-manager"]) {
        const collector = objectsOf(api.kubeconfig(user, ["system:masters"]));
        const [slice] = await slices("web");
        const path = `${slicesPath}/${slice?.metadata.name ?? ""}`;
        expect(outcome(await collector.patch(path, { metadata: { ownerReferences: [], finalizers: [] } }))).toHaveProperty(
          "metadata",
        );
        expect(outcome(await collector.patch(path, { endpoints: [] }))).toContain("by plexus-controller only");
        collector.close();
      }
      // The next change brings the owner back, which the chart's policy demands.
      await create(web("late", { "shop/red": ["10.1.0.9"] }));
      await vi.waitFor(async () => expect(await addresses("web")).toContain("10.1.0.9"), patience);
      expect((await slices("web"))[0]).toMatchObject({ metadata: { ownerReferences: [{ kind: "Service", name: "web" }] } });
    });

    test("SV-14: a slice of another writer with the name of a Service's slice keeps no endpoint from the Service", async () => {
      for (const number of [0, 1])
        await create({
          apiVersion: "discovery.k8s.io/v1",
          kind: "EndpointSlice",
          metadata: { namespace: "shop", name: `squatted-plexus-${number}` },
          addressType: "IPv4",
          endpoints: [],
        } as KubernetesObject & Readonly<Record<string, unknown>>);
      await create(web("squatter", { "shop/squatted": ["10.6.0.1"] }));
      await create(service("squatted", { "plexus.dev/network": "squatted" }, { clusterIP: "None" }));
      await vi.waitFor(async () => expect(await addresses("squatted")).toEqual(["10.6.0.1"]), patience);
      // A slice of Plexus that loses its manager's label is another writer's.
      const own = (await slices("squatted")).find(({ endpoints }) => endpoints !== null)?.metadata.name ?? "";
      outcome(
        await admin.patch(`${slicesPath}/${own}`, {
          metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "someone", "kubernetes.io/service-name": "other" } },
        }),
      );
      await vi.waitFor(async () => expect(await addresses("squatted")).toEqual(["10.6.0.1"]), patience);
    });

    test("SV-02: a pod whose node is removed is no endpoint until the node is there again", async () => {
      const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n2" } };
      await create(node);
      const pod = web("leaving", { "shop/left": ["10.7.0.1"] });
      await create({ ...pod, spec: { ...pod.spec, nodeName: "n2" } });
      await create(service("left", { "plexus.dev/network": "left" }));
      await vi.waitFor(async () => expect(await addresses("left")).toEqual(["10.7.0.1"]), patience);
      outcome(await admin.remove("/api/v1/nodes/n2"));
      await vi.waitFor(async () => expect(await addresses("left")).toEqual([]), patience);
      await create(node);
      await vi.waitFor(async () => expect(await addresses("left")).toEqual(["10.7.0.1"]), patience);
    });

    test("SV-14: changes of a pod that no slice shows are no work", async () => {
      await create(web("busy", { "shop/busy": ["10.8.0.1"] }));
      await create(service("busy", { "plexus.dev/network": "busy" }));
      await vi.waitFor(async () => expect(await addresses("busy")).toEqual(["10.8.0.1"]), patience);
      const before = await works();
      for (let restart = 0; restart < 10; restart++) {
        outcome(await admin.patch("/api/v1/namespaces/shop/pods/busy/status", { status: { message: `restart ${restart}` } }));
        await setTimeout(250);
      }
      // The watch brings changes in their order.
      await ready("busy", "True");
      await vi.waitFor(async () => expect((await slices("busy"))[0]?.endpoints?.[0]?.conditions.ready).toBe(true), patience);
      expect((await works()) - before).toBeLessThan(8);
    });

    test("SV-03: an address that no slice may have keeps the other pods from no Service", async () => {
      const refused = ["169.254.1.7", "127.0.0.1", "0.0.0.0", "224.0.0.5"];
      await create(web("link-local", { "shop/linked": refused }));
      await create(web("usable", { "shop/linked": ["10.5.0.1", ...refused] }));
      await create(service("linked", { "plexus.dev/network": "linked" }));
      await vi.waitFor(async () => expect(await addresses("linked")).toEqual(["10.5.0.1"]), patience);
    });

    test("a Service whose annotation names nothing has an Event and no slices", async () => {
      await create(service("bad", { "plexus.dev/network": "A b" }));
      await vi.waitFor(() => expect(events.join("\n")).toContain("names no network"), patience);
      expect(await slices("bad")).toEqual([]);
    });
  },
);
