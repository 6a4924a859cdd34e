// The policy of plexus-controller's account on a real API server, with other parts than all of them: each release has the rights of its parts and no others.

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { Elector } from "../../host/controller/election/elector.ts";
import { kuryrVifAnnotation } from "../../features/external-ports/rules/kuryr-vifs.ts";
import { objectsOfAccount } from "../lab/kube/account-objects.ts";
import { accountRequests, controllerAccount, eventOf, rightsKinds } from "../lab/kube/controller-account.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { chart, objectsOf as objectsIn, runHelm } from "../lab/kube/chart.ts";
import { helm } from "../lab/kube/helm.ts";
import { networkRequests, portRequests } from "../lab/kube/network-requests.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { systemClock } from "../../host/system/clock.ts";

const pod = "/api/v1/namespaces/shop/pods/web";
const networks = "/apis/plexus.dev/v1alpha1/podnetworks";

describe.skipIf(missing("the rights of plexus-controller", privateNamespaces, kubeApi, helm))(
  "the account of plexus-controller",
  () => {
    let api: ApiServer;
    let admin: ApiObjects;
    const clients: ApiObjects[] = [];

    async function install(release: string, ...values: readonly string[]): Promise<ApiObjects> {
      const client = await controllerAccount(api, admin, release, ...values);
      clients.push(client);
      return client;
    }

    beforeAll(async () => {
      api = await sharedApiServer({ alsoAllowed: [...networkRequests, ...portRequests, ...accountRequests, "create secrets"] });
      admin = objectsOf(api.adminKubeconfig);
      for (const name of ["shop", "network"]) await api.namespace(name);
      await applyObjects(admin, "deploy/helm/plexus/files/networks.yaml", "CustomResourceDefinition");
      const made: KubernetesObject & ApiObject = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "web", namespace: "shop", labels: { app: "web" }, annotations: { kept: "yes" } },
        spec: { containers: [{ name: "main", image: "none" }], automountServiceAccountToken: false },
      };
      const created = await admin.create(collectionOf(made), made);
      if (created.kind !== "object") throw new Error(created.why);
    });
    afterAll(async () => {
      for (const each of clients) each.close();
      admin?.close();
      await api?.dispose();
    });

    describe("FI-02: with Kuryr's annotation, and without PodNetworks", () => {
      let controller: ApiObjects;
      beforeAll(async () => {
        controller = await install("ports", "externalPorts.enabled=true", "externalPorts.kuryr.annotation=true");
      });

      test.each([
        ["the image", pod, { spec: { containers: [{ name: "main", image: "evil" }] } }, "spec.containers"],
        ["a label", pod, { metadata: { labels: { app: "other" } } }, "metadata.labels.app"],
        ["the selection", pod, { metadata: { annotations: { "k8s.v1.cni.cncf.io/networks": "x" } } }, "metadata.annotations"],
        ["a finalizer", pod, { metadata: { finalizers: ["example.com/x"] } }, "metadata.finalizers"],
        ["an owner", pod, { metadata: { ownerReferences: [owner] } }, "metadata.ownerReferences"],
        ["a toleration", pod, { spec: { tolerations: [{ key: "k", operator: "Exists" }] } }, "spec.tolerations"],
      ])("FI-02: it may not change %s of a pod", async (_, path, change, field) => {
        const answer = outcome(await controller.patch(path, change));
        expect(answer).toContain(`may not change ${field}`);
        expect(answer).toContain("it may change metadata.annotations.openstack.org/kuryr-vif only");
      });

      test("FI-02: it writes Kuryr's annotation", async () => {
        expect(outcome(await controller.patch(pod, { metadata: { annotations: { [kuryrVifAnnotation]: "{}" } } }))).toMatchObject(
          {
            metadata: { annotations: { kept: "yes", [kuryrVifAnnotation]: "{}" }, labels: { app: "web" } },
          },
        );
      });

      test("FI-02: a right that another binding gives is not in the list, so it is refused", async () => {
        await bind("cluster-admin", "ports-controller");
        const refused = [
          controller.create("/api/v1/namespaces/shop/secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }),
          controller.remove(pod),
          controller.create(networks, network("own")),
          controller.create("/api/v1/namespaces/network/serviceaccounts/ports-controller/token", { spec: { audiences: [] } }),
        ];
        for (const each of await Promise.all(refused))
          expect(outcome(each)).toMatch(/plexus-controller may not (CREATE|DELETE)/u);
      });
    });

    describe("FI-02: with PodNetworks and Kuryr's annotation", () => {
      let controller: ApiObjects;
      beforeAll(async () => {
        controller = await install(
          "both",
          "networks.enabled=true",
          "externalPorts.enabled=true",
          "externalPorts.kuryr.annotation=true",
        );
      });

      test("FI-02: it writes Kuryr's annotation", async () => {
        const annotated = { metadata: { annotations: { [kuryrVifAnnotation]: '{"a":1}' } } };
        expect(outcome(await controller.patch(pod, annotated))).toMatchObject({ kind: "Pod" });
        expect(outcome(await controller.patch(pod, { metadata: { annotations: { kept: "no" } } }))).toContain("annotations.kept");
      });

      test("FI-02: it creates the PodNetwork default, as it is, and no other one", async () => {
        for (const object of [
          network("a-secret"),
          network("default", { parametersRefs: [secretRef] }),
          network("default", { provider: "x.io/y" }),
        ])
          expect(outcome(await controller.create(networks, object))).toContain('may create the PodNetwork "default"');
        expect(outcome(await controller.create(networks, network("default")))).toMatchObject({ kind: "PodNetwork" });
      });

      test("FI-02: it changes its own finalizer and the status of a PodNetwork only", async () => {
        const path = `${networks}/blue`;
        const finalizers = ["example.com/kept"];
        const blue = { ...network("blue"), metadata: { name: "blue", finalizers } };
        expect(outcome(await admin.create(networks, blue))).toMatchObject({ kind: "PodNetwork" });
        const set = async (list: readonly string[]): Promise<ApiObject | string> =>
          outcome(await controller.patch(path, { metadata: { finalizers: list } }));
        expect(await set([...finalizers, "plexus.dev/in-use"])).toMatchObject({ kind: "PodNetwork" });
        expect(await set([])).toContain("the finalizer plexus.dev/in-use only");
        expect(await set([...finalizers, "example.com/x"])).toContain("the finalizer plexus.dev/in-use only");
        expect(await set(finalizers)).toMatchObject({ metadata: { finalizers } });
        expect(outcome(await controller.patch(path, { spec: { enabled: false } }))).toContain("may not change spec.enabled");
        expect(outcome(await controller.patch(path, { metadata: { labels: { a: "b" } } }))).toContain("metadata.labels.a");
        expect(outcome(await controller.patch(`${path}/status`, { status: { phase: "Ready" } }))).toMatchObject({
          status: { phase: "Ready" },
        });
        expect(outcome(await controller.remove(path))).toContain("forbidden");
      });

      test("FI-02: it takes part in the election by its own Lease, and writes no other one", async () => {
        const stopped = new AbortController();
        const problems: string[] = [];
        const elector = new Elector({
          clock: systemClock,
          objects: controller,
          namespace: "network",
          name: "both-controller",
          identity: "me",
          leaseSeconds: 1,
          onChange: () => undefined,
          onLook: (problem) => problem !== undefined && problems.push(problem),
          warn: (text) => problems.push(text),
        });
        let terms = 0;
        await elector.run(async (signal) => {
          terms += 1;
          // Some renewals pass before the end.
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          expect(signal.aborted).toBe(false);
          stopped.abort();
        }, stopped.signal);
        expect([terms, problems]).toEqual([1, []]);
        const leases = "/apis/coordination.k8s.io/v1/namespaces/network/leases";
        const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "other" }, spec: {} };
        expect(outcome(await controller.create(leases, lease))).toContain("its Lease network/both-controller only");
      });

      test("FI-02: it sends Events of the component plexus only", async () => {
        expect(outcome(await controller.create("/api/v1/namespaces/shop/events", eventOf("plexus")))).toMatchObject({
          kind: "Event",
        });
        expect(outcome(await controller.create("/api/v1/namespaces/shop/events", eventOf("kubelet")))).toContain("plexus only");
      });
    });

    test("FI-02: the Job after a removal removes Plexus' own finalizers, and changes nothing else", async () => {
      const { stdout } = runHelm(
        "template",
        "gone",
        chart,
        "-n",
        "network",
        "--set",
        "networks.enabled=true",
        "-s",
        "templates/finalizers.yaml",
      );
      for (const object of objectsIn(stdout).filter(({ kind }) => rightsKinds.includes(kind))) {
        const made = await admin.create(collectionOf(object), object);
        if (made.kind !== "object") throw new Error(made.why);
      }
      const job = await objectsOfAccount(api, admin, "network", "gone-finalizers");
      clients.push(job);
      const green = { ...network("green"), metadata: { name: "green", finalizers: ["example.com/kept", "plexus.dev/in-use"] } };
      expect(outcome(await admin.create(networks, green))).toMatchObject({ kind: "PodNetwork" });
      const patch = async (change: object): Promise<ApiObject | string> => outcome(await job.patch(`${networks}/green`, change));
      const only = "removes Plexus' own finalizers only";
      let count = 0;
      await vi.waitFor(async () => expect(await patch({ metadata: { labels: { tried: `${count++}` } } })).toContain(only), {
        timeout: 60_000,
        interval: 250,
      });
      for (const change of [
        { spec: { enabled: false } },
        { metadata: { finalizers: [] } },
        { metadata: { annotations: { a: "b" } } },
      ])
        expect(await patch(change)).toContain(only);
      expect(await patch({ metadata: { finalizers: ["example.com/kept"] } })).toMatchObject({ kind: "PodNetwork" });
    });

    async function bind(role: string, name: string): Promise<void> {
      const group = "rbac.authorization.k8s.io";
      const object = {
        apiVersion: `${group}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name: `more-${name}` },
        roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
        subjects: [{ kind: "ServiceAccount", name, namespace: "network" }],
      };
      expect(outcome(await admin.create(collectionOf(object), object))).toMatchObject({ kind: "ClusterRoleBinding" });
    }
  },
);

const owner = { apiVersion: "v1", kind: "Pod", name: "x", uid: "y" };
const secretRef = { group: "", kind: "Secret", name: "s" };

function network(name: string, spec: object = {}): ApiObject {
  const provider = "k8s.cni.cncf.io/plexus";
  return { apiVersion: "plexus.dev/v1alpha1", kind: "PodNetwork", metadata: { name }, spec: { provider, ...spec } };
}
