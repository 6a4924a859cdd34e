// plexus-controller's part for policies on a real API server: the slices follow policies, pods and labels.

import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { policiesPart } from "../../features/policies/controller/part.ts";
import { type AddressSlice, readSlice, slicesPath } from "../../features/policies/rules/address-slice.ts";
import { controllerMetricDefinitions } from "../../host/telemetry/metrics/controller-definitions.ts";
import { MetricsOf } from "../../host/telemetry/metrics/metrics.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { multiNetworkPolicy, networkPolicy, podOn, policyRequests } from "../lab/kube/policy-objects.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const patience = { timeout: 60_000, interval: 50 };
const fromDb = { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: "db" } } }] }] };
const fromTeam = { podSelector: {}, ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "two" } } }] }] };

const sum = (counts: readonly number[]): number => counts.reduce((all, each) => all + each, 0);
/** As many addresses as Plexus reads of a pod. */
const many = (pod: number): readonly string[] => Array.from({ length: 64 }, (_, index) => `10.20.${pod}.${index + 1}`);

describe.skipIf(missing("slices of policies on a Kubernetes API", privateNamespaces, kubeApi))(
  "the controller's part for policies",
  () => {
    let api: ApiServer;
    let objects: ApiObjects;
    let term: AbortController;
    let running: Promise<void>;

    const create = async (object: Parameters<typeof collectionOf>[0] & object): Promise<void> => {
      const made = outcome(await objects.create(collectionOf(object), object as never));
      if (typeof made === "string") throw new Error(made);
    };
    const slices = async (namespace: string): Promise<readonly AddressSlice[]> => {
      const listed = await objects.list(slicesPath(namespace));
      if (listed.kind !== "list") throw new Error(listed.why);
      return listed.items.map((item) => {
        const slice = readSlice(item);
        if (!slice.ok) throw new Error(slice.problem);
        return slice.value;
      });
    };
    const addresses = async (namespace: string): Promise<readonly string[]> =>
      (await slices(namespace)).flatMap(({ endpoints }) => endpoints.flatMap((each) => each.addresses)).toSorted();
    const sizes = async (): Promise<readonly number[]> =>
      (await slices("one"))
        .filter(({ query }) => query.includes("many"))
        .map(({ endpoints }) => endpoints.flatMap((each) => each.addresses).filter((each) => each.startsWith("10.20.")).length)
        .filter((count) => count > 0)
        .toSorted();
    const events: string[] = [];
    const metrics = new MetricsOf(controllerMetricDefinitions);
    /** The works of the part so far. */
    const works = async (): Promise<number> => {
      const counts = [...(await metrics.text()).matchAll(/^plexus_controller_work_total\{.*\} (\d+)$/gmu)];
      return counts.reduce((all, [, count]) => all + Number(count), 0);
    };
    /** The controller's writes of slices. */
    const writes: string[] = [];
    let counted: ApiObjects;
    const begin = (): void => {
      term = new AbortController();
      const context = partContext(counted, {
        metrics,
        event: ({ kind, name }, { reason, message }) => void events.push(`${kind} ${name} ${reason}: ${message}`),
      });
      running = policiesPart()(context).run(term.signal);
    };
    const end = async (): Promise<void> => {
      term.abort();
      await running;
    };

    beforeAll(async () => {
      api = await sharedApiServer({ alsoAllowed: [...policyRequests, "patch pods/status"] });
      objects = objectsOf(api.adminKubeconfig);
      counted = objectsOf(api.adminKubeconfig, {
        onRequest: ({ method, path }) =>
          void (path.startsWith(slicesPath("one")) && method !== "GET" && writes.push(`${method} ${path}`)),
      });
      await applyObjects(objects, "deploy/helm/plexus/files/policies.yaml");
      await applyObjects(objects, "deploy/helm/plexus/files/multi-network-policies.yaml");
      await applyObjects(objects, "deploy/helm/plexus/files/networks.yaml", "CustomResourceDefinition");
      await vi.waitFor(async () => {
        await create(multiNetworkPolicy("default", "first", "red", { podSelector: {} }));
        await slices("default");
      }, patience);
      for (const [name, team] of [
        ["one", "one"],
        ["two", "two"],
      ] as const) {
        await create({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { team } } });
      }
    });
    beforeEach(begin);
    afterEach(end);
    afterAll(async () => {
      objects?.close();
      counted?.close();
      await api?.dispose();
    });

    test("PO-06: a query has the addresses of its pods on its network only, and follows labels of pods and namespaces", async () => {
      await create(podOn("one", "db", { app: "db" }, { "one/red": ["10.0.0.2", "fd00::2"], "one/blue": ["10.9.0.2"] }));
      await create(podOn("one", "ui", { app: "ui" }, { "one/red": ["10.0.0.3"] }));
      await create(podOn("two", "db", { app: "db" }, { "one/red": ["10.0.0.4"] }));
      await create(multiNetworkPolicy("one", "from-db", "red", fromDb));
      await vi.waitFor(async () => expect(await addresses("one")).toEqual(["10.0.0.2", "fd00::2"]), patience);
      outcome(await objects.patch("/api/v1/namespaces/one/pods/ui", { metadata: { labels: { app: "db" } } }));
      await vi.waitFor(async () => expect(await addresses("one")).toEqual(["10.0.0.2", "10.0.0.3", "fd00::2"]), patience);
      outcome(await objects.remove("/api/v1/namespaces/one/pods/db"));
      await vi.waitFor(async () => expect(await addresses("one")).toEqual(["10.0.0.3"]), patience);
      await create(multiNetworkPolicy("one", "from-team", "red", fromTeam));
      await vi.waitFor(async () => expect(await addresses("one")).toEqual(["10.0.0.3", "10.0.0.4"]), patience);
      outcome(await objects.patch("/api/v1/namespaces/two", { metadata: { labels: { team: "one" } } }));
      await vi.waitFor(async () => expect(await addresses("one")).toEqual(["10.0.0.3"]), patience);
      expect((await slices("one")).map(({ endpoints }) => endpoints.length).toSorted()).toEqual([0, 1]);
    });

    test("PO-20: a policy that cannot be read, or that names no network, gets an Event", async () => {
      await create(multiNetworkPolicy("one", "bad", "red", { podSelector: {}, policyTypes: ["Sideways"] }));
      await create(multiNetworkPolicy("one", "nowhere", "re d", { podSelector: {} }));
      await vi.waitFor(() => {
        expect(events).toContainEqual(
          expect.stringMatching(
            /^MultiNetworkPolicy bad PolicyUnreadable: pods of the namespace on one\/red do not start.*: spec\.policyTypes/u,
          ),
        );
        expect(events).toContainEqual(expect.stringMatching(/^MultiNetworkPolicy nowhere PolicyNetworkUnknown: .*re d/u));
      }, patience);
      for (const name of ["bad", "nowhere"])
        outcome(await objects.remove(`/apis/k8s.cni.cncf.io/v1beta1/namespaces/one/multi-networkpolicies/${name}`));
    });

    test("a query that no policy asks has no slices, also if the policy went while no controller ran", async () => {
      await vi.waitFor(async () => expect(await slices("one")).toHaveLength(2), patience);
      outcome(await objects.remove("/apis/k8s.cni.cncf.io/v1beta1/namespaces/one/multi-networkpolicies/from-team"));
      await vi.waitFor(async () => expect(await slices("one")).toHaveLength(1), patience);
      await end();
      outcome(await objects.remove("/apis/k8s.cni.cncf.io/v1beta1/namespaces/one/multi-networkpolicies/from-db"));
      begin();
      await vi.waitFor(async () => expect(await slices("one")).toEqual([]), patience);
    });

    test("PO-08: an egress rule with a port's name has the peers' numbers of this port", async () => {
      await create(
        multiNetworkPolicy("one", "to-sql", "red", {
          podSelector: {},
          policyTypes: ["Egress"],
          egress: [{ ports: [{ port: "sql" }] }],
        }),
      );
      await vi.waitFor(async () => {
        const endpoints = (await slices("one")).flatMap((slice) => slice.endpoints);
        expect(endpoints).toContainEqual({
          namespace: "one",
          addresses: ["10.0.0.3"],
          ports: [{ name: "sql", protocol: "TCP", port: 5432 }],
        });
      }, patience);
    });

    test("PO-02: a NetworkPolicy asks for its peers on each PodNetwork with spec.policies, as long as the network has this field", async () => {
      const before = await addresses("two");
      await create(networkPolicy("two", "from-all", { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }));
      await create(podOn("two", "far", { app: "db" }, { "podnetwork/blue": ["10.7.0.2"], "podnetwork/red": ["10.8.0.2"] }));
      for (const name of ["blue", "red"]) await create(networkObjects.podNetwork(name));
      const path = "/apis/plexus.dev/v1alpha1/podnetworks/blue";
      outcome(await objects.patch(path, { spec: { policies: "NetworkPolicy" } }));
      await vi.waitFor(async () => expect(await addresses("two")).toEqual([...before, "10.7.0.2"]), patience);
      outcome(await objects.patch(path, { spec: { policies: null } }));
      await vi.waitFor(async () => expect(await addresses("two")).toEqual(before), patience);
    });

    test("PO-24: a change of one pod is one PATCH of one slice, and none of the query's other slices", async () => {
      for (let pod = 0; pod < 17; pod++) await create(podOn("one", `many-${pod}`, { app: "many" }, { "one/red": many(pod) }));
      const from = [{ podSelector: { matchLabels: { app: "many" } } }];
      await create(multiNetworkPolicy("one", "from-many", "red", { podSelector: {}, ingress: [{ from }] }));
      await vi.waitFor(async () => expect(sum(await sizes())).toBe(17 * 64), patience);
      expect(await sizes()).toHaveLength(2);
      const names = (await slices("one")).flatMap(({ query, metadata }) => (query.includes("many") ? [metadata.name] : []));
      writes.length = 0;
      outcome(await objects.patch("/api/v1/namespaces/one/pods/many-0", { metadata: { labels: { app: "few" } } }));
      await vi.waitFor(async () => expect(sum(await sizes())).toBe(16 * 64), patience);
      const own = (): readonly string[] => writes.filter((each) => names.some((name) => each.endsWith(`/${name}`)));
      await vi.waitFor(() => expect(own()).toEqual([expect.stringMatching(/^PATCH /u)]), patience);
    });

    test("PO-24: changes of a pod that no query sees are no work", async () => {
      const network = "one/busy";
      await create(podOn("one", "busy", { app: "busy" }, { [network]: ["10.30.0.1"] }));
      const from = [{ podSelector: { matchLabels: { app: "busy" } } }];
      await create(multiNetworkPolicy("one", "from-busy", "busy", { podSelector: {}, ingress: [{ from }] }));
      await vi.waitFor(async () => expect(await addresses("one")).toContain("10.30.0.1"), patience);
      const before = await works();
      const pod = "/api/v1/namespaces/one/pods/busy";
      for (let restart = 0; restart < 10; restart++) {
        outcome(await objects.patch(`${pod}/status`, { status: { message: `restart ${restart}` } }));
        await setTimeout(250);
      }
      // The watch brings changes in their order.
      outcome(await objects.patch(pod, { metadata: { labels: { app: "idle" } } }));
      await vi.waitFor(async () => expect(await addresses("one")).not.toContain("10.30.0.1"), patience);
      expect((await works()) - before).toBeLessThan(6);
    });

    test("a slice that another writer has changed or removed is written again", async () => {
      const [slice] = await slices("one");
      const path = `${slicesPath("one")}/${slice?.metadata.name ?? ""}`;
      const before = await addresses("one");
      outcome(await objects.patch(path, { spec: { endpoints: [{ addresses: ["8.8.8.8"] }] } }));
      await vi.waitFor(async () => expect(await addresses("one")).toEqual(before), patience);
      outcome(await objects.remove(path));
      await vi.waitFor(async () => expect(await addresses("one")).toEqual(before), patience);
      // Without its label the object is no slice, and its name is not free.
      const again = (await slices("one")).find(({ query }) => query.includes("busy"));
      const unlabelled = { metadata: { labels: { "plexus.dev/peers": null } } };
      const patched = await objects.patch(`${slicesPath("one")}/${again?.metadata.name ?? ""}`, unlabelled);
      expect(outcome(patched)).toHaveProperty("metadata");
      await vi.waitFor(async () => expect(await addresses("one")).toEqual(before), patience);
    });
  },
);
