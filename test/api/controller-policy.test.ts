// The chart's policy for plexus-controller on a real API server: the account that may patch pods changes gate, label and condition only.

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { addressBlockObject, addressBlocksPath } from "../../features/pools/rules/address-block.ts";
import {
  addressReservationObject,
  addressReservationsPath,
  type ReservationHolder,
} from "../../features/pools/rules/address-reservation.ts";
import { sliceName, sliceObject, slicesPath } from "../../features/policies/rules/address-slice.ts";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { objectsOfAccount } from "../lab/kube/account-objects.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { helm } from "../lab/kube/helm.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { policyRequests } from "../lab/kube/policy-objects.ts";
import { poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { render } from "../lab/kube/chart.ts";

const path = "/api/v1/namespaces/shop/pods/web";
const rendered = [
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
];
const switches = ["networks", "definitionChecks", "pools", "policies", "externalPorts"].flatMap((part) => [
  "--set",
  `${part}.enabled=true`,
]);
const gateTest = { op: "test", path: "/spec/schedulingGates/0/name", value: "plexus.dev/networks-ready" };

describe.skipIf(missing("the policy of plexus-controller", privateNamespaces, kubeApi, helm))(
  "the account of plexus-controller",
  () => {
    let api: ApiServer;
    let admin: ApiObjects;
    let controller: ApiObjects;
    const patch = async (
      change: unknown,
      at = path,
      type: "merge" | "json" | "strategic" = "merge",
    ): Promise<ApiObject | string> => outcome(await controller.patch(at, change, type));
    const condition = { type: "PodScheduled", status: "False", reason: "SchedulingGated", message: "waits" };

    beforeAll(async () => {
      const accounts = ["serviceaccounts", "serviceaccounts/token", "roles", "rolebindings"].map((each) => `create ${each}`);
      const ports = ["create", "patch", "delete"].flatMap((verb) => [`${verb} externalports`, `${verb} externalports/status`]);
      api = await sharedApiServer({
        alsoAllowed: [...networkRequests, ...poolRequests, ...policyRequests, ...accounts, ...ports],
      });
      admin = objectsOf(api.adminKubeconfig);
      await api.namespace("shop");
      const objects = render(...switches).filter(
        ({ kind, metadata }) =>
          rendered.includes(kind) &&
          /^plexus-controller(-networks|-definitions|-pools|-policies|-ports)?$|^plexus-(external-ports|slices)$/.test(
            metadata.name,
          ),
      );
      for (const object of objects) {
        const made = await admin.create(collectionOf(object), object);
        if (made.kind !== "object") throw new Error(made.why);
      }
      controller = await objectsOfAccount(api, admin, "kube-system", "plexus-controller");
      const pod: KubernetesObject & ApiObject = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          name: "web",
          namespace: "shop",
          labels: { "plexus.dev/networks": "gated", app: "web" },
          annotations: { kept: "yes" },
        },
        spec: {
          containers: [{ name: "main", image: "none" }],
          automountServiceAccountToken: false,
          schedulingGates: [{ name: "plexus.dev/networks-ready" }, { name: "example.com/other" }],
        },
      };
      expectObject(await admin.create(collectionOf(pod), pod));
      // The API server compiles the policy some time after its creation.
      const deadline = Date.now() + 60_000;
      while (typeof (await patch({ metadata: { labels: { app: "other" } } })) !== "string") {
        if (Date.now() > deadline) throw new Error("the policy is not active after 60 s");
        await admin.patch(path, { metadata: { labels: { app: "web" } } });
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    });
    afterAll(async () => {
      controller?.close();
      admin?.close();
      await api?.dispose();
    });

    test.each([
      ["another label", { metadata: { labels: { app: "other" } } }, "may not change metadata.labels.app of pods"],
      ["an annotation", { metadata: { annotations: { kept: "no" } } }, "may not change metadata.annotations.kept of pods"],
      ["a finalizer", { metadata: { finalizers: ["example.com/x"] } }, "may not change metadata.finalizers of pods"],
      ["the image", { spec: { containers: [{ name: "main", image: "evil" }] } }, "may not change spec.containers of pods"],
      ["its own label to another value", { metadata: { labels: { "plexus.dev/networks": "x" } } }, 'to "open" only'],
      ["another gate", { spec: { schedulingGates: [{ name: "plexus.dev/networks-ready" }] } }, "plexus.dev/networks-ready only"],
    ])("may not change %s", async (_, change, why) => {
      expect(await patch(change)).toContain(why);
    });

    test.each([
      ["the phase", { status: { phase: "Succeeded" } }, "may not change status.phase of pods/status"],
      ["the addresses", { status: { podIPs: [{ ip: "10.0.0.1" }] } }, "may not change status.podIP"],
      ["another condition", { status: { conditions: [{ type: "Ready", status: "True" }] } }, "and no other condition"],
      ["the decision", { status: { conditions: [{ type: "PodScheduled", status: "True" }] } }, "and no other condition"],
    ])("may not change %s of the status", async (_, change, why) => {
      expect(await patch(change, `${path}/status`, "strategic")).toContain(why);
    });

    test("may not delete or create a pod", async () => {
      expect(outcome(await controller.remove(path))).toContain("forbidden");
      expect(outcome(await controller.create("/api/v1/namespaces/shop/pods", { kind: "Pod" }))).toContain("forbidden");
    });

    test("PO-17: writes the endpoints of slices, and nobody else writes a slice", async () => {
      await applyObjects(admin, "deploy/helm/plexus/files/policies.yaml");
      const query = { network: "shop/red", namespaces: { name: "shop" }, pods: [], portNames: [] } as const;
      const id = "0".repeat(32);
      const slice = sliceObject("shop", id, sliceName(id, 0), query, [{ addresses: ["10.0.0.1"] }]);
      const at = `${slicesPath("shop")}/${sliceName(id, 0)}`;
      await vi.waitFor(async () => expectObject(await controller.create(slicesPath("shop"), slice)), {
        timeout: 60_000,
        interval: 100,
      });
      const only = "NetworkAddressSlices are written by plexus-controller only";
      const asAdmin = { ...slice, metadata: { namespace: "shop", name: "mine", labels: {} } };
      await vi.waitFor(async () => expect(outcome(await admin.create(slicesPath("shop"), asAdmin))).toContain(only), {
        timeout: 60_000,
        interval: 100,
      });
      expect(outcome(await admin.patch(at, { spec: { endpoints: [{ addresses: ["8.8.8.8"] }] } }))).toContain(only);
      expect(outcome(await admin.remove(at))).toContain(only);
      expectObject(await controller.patch(at, { spec: { endpoints: [{ addresses: ["10.0.0.2"] }] } }));
      expect(await patch({ metadata: { labels: { "plexus.dev/peers": "x" } } }, at)).toContain(
        "may not change metadata.labels.plexus.dev/peers",
      );
      expect(await patch({ spec: { query: "x" } }, at)).toContain("cannot be changed");
      expectObject(await controller.remove(at));
    });

    describe("of definitions", () => {
      const definitions = "/apis/k8s.cni.cncf.io/v1/namespaces/shop/network-attachment-definitions";
      const annotate = (annotations: object): Promise<ApiObject | string> =>
        patch({ metadata: { annotations } }, `${definitions}/net-a`);
      beforeAll(async () => {
        const metadata = { name: "net-a", namespace: "shop", annotations: { kept: "yes" } };
        const spec = { config: "{}" };
        expectObject(
          await admin.create(definitions, {
            apiVersion: "k8s.cni.cncf.io/v1",
            kind: "NetworkAttachmentDefinition",
            metadata,
            spec,
          }),
        );
        for (const deadline = Date.now() + 60_000; typeof (await annotate({ tried: "x" })) !== "string";) {
          if (Date.now() > deadline) throw new Error("the policy is not active after 60 s");
          await admin.patch(`${definitions}/net-a`, { metadata: { annotations: { tried: null } } });
          await new Promise((resolve) => setTimeout(resolve, 250));
        }
      });

      test("MO-31: may list them, and change their conditions only", async () => {
        expect(await controller.list("/apis/k8s.cni.cncf.io/v1/network-attachment-definitions")).toMatchObject({ kind: "list" });
        expect(await annotate({ "plexus.dev/conditions": "[]" })).toMatchObject({ kind: "NetworkAttachmentDefinition" });
        expect(await annotate({ "plexus.dev/conditions": null })).toMatchObject({ metadata: { annotations: { kept: "yes" } } });
        for (const annotations of [{ kept: "no" }, { kept: null }, { other: "x" }])
          expect(await annotate(annotations)).toContain("may change metadata.annotations.plexus.dev/conditions only");
        for (const change of [{ spec: { config: '{"type":"evil"}' } }, { spec: null }, { metadata: { labels: { a: "b" } } }])
          expect(await patch(change, `${definitions}/net-a`)).toContain("may not change");
        expect(await patch({ metadata: { finalizers: ["example.com/x"] } }, `${definitions}/net-a`)).toContain("may not change");
        expect(outcome(await controller.remove(`${definitions}/net-a`))).toContain("forbidden");
      });
    });

    describe("of pools", () => {
      const pools = "/apis/plexus.dev/v1alpha1/addresspools";
      const block = `${addressBlocksPath}/storage-0`;
      const reservation = `${addressReservationsPath}/storage.10.50.255.7`;
      beforeAll(async () => {
        await applyObjects(admin, "deploy/helm/plexus/files/pools.yaml");
        // The API server knows the kinds, and the policy of overlapping pools its parameters, some time after their creation.
        const pool = poolObject("storage", [{ subnet: "10.50.0.0/16", static: ["10.50.255.0/24"] }]);
        for (const deadline = Date.now() + 60_000; ;) {
          const made = await admin.create(pools, pool);
          if (made.kind === "object") break;
          if (Date.now() > deadline) throw new Error(made.why);
          await new Promise((resolve) => setTimeout(resolve, 250));
        }
        const span = { family: 4, first: 0x0a_32_00_00n, last: 0x0a_32_00_3fn } as const;
        const claim = { pool: "storage", index: 0, span, node: "node-a", holder: "h", freeAfterSeconds: 60 };
        expectObject(await admin.create(addressBlocksPath, addressBlockObject(claim)));
        const owner = { kind: "IPAMClaim", namespace: "shop", name: "vm", uid: "u", pod: undefined, ifname: "net1" } as const;
        const reserved = { pool: "storage", address: { family: 4, value: 0x0a_32_ff_07n }, owner } as const;
        expectObject(await admin.create(addressReservationsPath, addressReservationObject(reserved, [holder("node-a")])));
        for (
          const deadline = Date.now() + 60_000;
          typeof (await patch({ metadata: { labels: { a: "b" } } }, `${pools}/storage`)) !== "string";
        ) {
          if (Date.now() > deadline) throw new Error("the policy is not active after 60 s");
          await admin.patch(`${pools}/storage`, { metadata: { labels: null } });
          await new Promise((resolve) => setTimeout(resolve, 250));
        }
      });

      test("may change finalizers and status of a pool only", async () => {
        expect(await patch({ spec: { freeAfterSeconds: 99 } }, `${pools}/storage`)).toContain(
          "may not change spec.freeAfterSeconds of plexus.dev/addresspools",
        );
        expect(await patch({ metadata: { annotations: { a: "b" } } }, `${pools}/storage`)).toContain("metadata.annotations.a");
        for (const finalizers of [["plexus.dev/blocks", "example.com/x"], []])
          expect(await patch({ metadata: { finalizers } }, `${pools}/storage`)).toContain("the finalizer plexus.dev/blocks");
        expect(outcome(await controller.remove(`${pools}/storage`))).toContain("forbidden");
      });

      test("may delete a block only after it has marked the block", async () => {
        expect(outcome(await controller.remove(block))).toContain("only if its node is gone (status.orphanedSince)");
        expect(await patch({ status: { orphanedSince: "2026-01-01T00:00:00Z" } }, `${block}/status`)).toMatchObject({
          kind: "AddressBlock",
        });
        expect(outcome(await controller.remove(block))).toBeTypeOf("object");
      });

      test("may take a holder out of a reservation, add none, and delete a reservation without holders only", async () => {
        expect(outcome(await controller.remove(reservation))).toContain("may delete a reservation without holders only");
        const { instance: _, ...other } = holder("node-b");
        expect(await patch({ spec: { holders: [other] } }, reservation)).toContain("take holders out of a reservation");
        expect(await patch({ spec: { holders: [] } }, reservation)).toMatchObject({ kind: "AddressReservation" });
        expect(outcome(await controller.remove(reservation))).toBeTypeOf("object");
      });
    });

    describe("of external ports", () => {
      const ports = "/apis/plexus.dev/v1alpha1/namespaces/shop/externalports";
      const only = "only plexus-controller makes ExternalPorts and writes their status";
      const spec = { podName: "web", podUid: "u", nodeName: "node-a", index: 0, provider: "neutron" };
      const port = (name: string): ApiObject & KubernetesObject => {
        const definition = { namespace: "networks", name: "backend" };
        return {
          apiVersion: "plexus.dev/v1alpha1",
          kind: "ExternalPort",
          metadata: { name, namespace: "shop", finalizers: ["plexus.dev/external-port"] },
          spec: { ...spec, definition },
        };
      };
      let tenant: ApiObjects;
      beforeAll(async () => {
        await applyObjects(admin, "deploy/helm/plexus/files/external-ports.yaml");
        const apiGroup = "rbac.authorization.k8s.io";
        const metadata = { name: "tenant", namespace: "shop" };
        const everything = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
        const subjects = [{ kind: "ServiceAccount", ...metadata }];
        for (const object of [
          { apiVersion: "v1", kind: "ServiceAccount", metadata },
          { apiVersion: `${apiGroup}/v1`, kind: "Role", metadata, rules: [everything] },
          {
            apiVersion: `${apiGroup}/v1`,
            kind: "RoleBinding",
            metadata,
            subjects,
            roleRef: { apiGroup, kind: "Role", name: "tenant" },
          },
        ])
          expectObject(await admin.create(collectionOf(object), object));
        tenant = await objectsOfAccount(api, admin, "shop", "tenant");
      });
      afterAll(() => tenant?.close());

      test("are made by the controller, and not by the administrator of a pod's namespace", async () => {
        await vi.waitFor(async () => expectObject(await controller.create(ports, port("own"))), {
          timeout: 60_000,
          interval: 250,
        });
        // The API server compiles the policy some time after its creation.
        let count = 0;
        await vi.waitFor(async () => expect(outcome(await tenant.create(ports, port(`forged-${count++}`)))).toContain(only), {
          timeout: 60_000,
          interval: 250,
        });
        const status = {
          providerId: "p",
          mac: "02:00:00:00:00:01",
          addresses: [],
          binding: { type: "ovs", interfaceId: "other" },
        };
        expect(outcome(await tenant.patch(`${ports}/own/status`, { status }))).toContain(only);
        expect(outcome(await controller.patch(`${ports}/own/status`, { status }))).toMatchObject({ status });
        const released = { metadata: { finalizers: [] } };
        expect(outcome(await controller.patch(`${ports}/own`, released))).toContain("that is being deleted only");
        // Neither the API's garbage collector nor the namespace's administrator is kept from a deletion.
        expect(outcome(await tenant.remove(`${ports}/own`))).toBeTypeOf("object");
        expect(outcome(await controller.patch(`${ports}/own`, released))).toBeTypeOf("object");
      });
    });

    test("may write the reason of a wait, open its own gate and change its own label", async () => {
      expect(await patch({ status: { conditions: [condition] } }, `${path}/status`, "strategic")).toMatchObject({
        status: { conditions: [condition] },
      });
      const open = [
        gateTest,
        { op: "replace", path: "/metadata/labels/plexus.dev~1networks", value: "open" },
        { op: "remove", path: "/spec/schedulingGates/0" },
      ];
      expect(await patch(open, path, "json")).toMatchObject({
        metadata: { labels: { "plexus.dev/networks": "open", app: "web" } },
        spec: { schedulingGates: [{ name: "example.com/other" }] },
      });
    });
  },
);

/** A holder of a reservation on a node. */
function holder(node: string): ReservationHolder {
  return { node, pod: "web", podUid: "u", containerId: "c", instance: undefined };
}

/** Throws the server's refusal. */
function expectObject(answer: Parameters<typeof outcome>[0]): void {
  if (answer.kind !== "object") throw new Error(answer.why);
}
