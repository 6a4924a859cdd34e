// The work on a pod whose ExternalPort gets HTTP 409 of an API server. A single API server checks quotas one after the other and so never gives the 409 of
// a ResourceQuota that another one has changed at the same time.

import { expect, test } from "vitest";
import { compat, strict } from "../../../src/npwg/profile.ts";
import type { ApiObject, ObjectAnswer } from "../../../host/cluster/kube/api-objects.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { PortCollections } from "./collections.ts";
import { workOnPod } from "./pod-work.ts";

const podPath = "/api/v1/namespaces/shop/pods/web";
const pod: ApiObject = {
  metadata: { name: "web", namespace: "shop", uid: "u", annotations: { "k8s.v1.cni.cncf.io/networks": "fabric" } },
  spec: { nodeName: "n" },
  status: { phase: "Pending" },
};
const extended = { "k8s.v1.cni.cncf.io/networks": "fabric@net5" };
const open = { namespaceIsolation: false, globalNamespaces: [] };
const conflict = { kind: "conflict", why: "HTTP 409" } as const;
const collections = {
  wantsPorts: () => true,
  definitions: { get: () => ({ annotations: new Map([["plexus.dev/external-port", '{"provider":"fabric"}']]) }) },
  ports: { get: () => undefined },
} as unknown as PortCollections;

/** An API server whose ExternalPort is this answer, and that answers each creation with a conflict. */
function conflicting(port: ObjectAnswer): PartContext {
  const objects = {
    get: async (path: string) => (path === podPath ? { kind: "object", object: pod } : port),
    create: async () => conflict,
  };
  return { objects, event: () => undefined } as unknown as PartContext;
}

test.each([
  ["is done if the object exists", { kind: "object", object: {} }, { kind: "done" }],
  ["is tried again if the object does not exist", { kind: "absent", why: "HTTP 404" }, conflict],
] as const)("a conflict at the creation of an ExternalPort %s", async (_, port, outcome) => {
  expect(await workOnPod(conflicting(port), collections, { profile: compat, isolation: open }, "shop", "web")).toEqual(outcome);
});

test.each([
  ["compat", compat, [0]],
  // The node ignores an annotation with Multus' extension, and plugs no port.
  ["strict", strict, []],
] as const)("KU-20: the ports of a selection with Multus' extension, by the nodes' profile %s", async (_, profile, indexes) => {
  const made: unknown[] = [];
  const objects = {
    get: async () => ({ kind: "object", object: { ...pod, metadata: { ...Object(pod["metadata"]), annotations: extended } } }),
    create: async (_path: string, object: ApiObject) => (made.push(object["spec"]), { kind: "object", object }),
  };
  const context = { objects, event: () => undefined } as unknown as PartContext;
  await workOnPod(context, collections, { profile, isolation: open }, "shop", "web");
  expect(made).toEqual(indexes.map((index) => expect.objectContaining({ index })));
});
