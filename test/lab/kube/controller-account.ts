// The account of plexus-controller of one release of the chart on a real API server: its rights, and the policy that bounds them.

import { vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { objectsOfAccount } from "./account-objects.ts";
import type { ApiServer } from "./api-server.ts";
import { collectionOf, outcome } from "./apply.ts";
import { chart, type Manifest, objectsOf, runHelm } from "./chart.ts";

/** The kinds that give rights and bound them. */
export const rightsKinds = [
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "ClusterRole",
  "ClusterRoleBinding",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
];

/** Requests of the installation, as `verb resource` (ApiServerInit.alsoAllowed). */
export const accountRequests = ["serviceaccounts", "serviceaccounts/token", "events"].map((each) => `create ${each}`);

/** Where the release is. */
const namespace = "network";

/** An Event of a component about the pod `web` in the namespace `shop`. */
export function eventOf(component: string): ApiObject {
  const involvedObject = { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web" };
  const metadata = { namespace: "shop", name: `e${crypto.randomUUID()}` };
  const content = { reason: "Test", message: "m", type: "Normal", source: { component } };
  return { apiVersion: "v1", kind: "Event", metadata, involvedObject, ...content };
}

/**
 * Creates the controller's account of a release with these values, in the namespace `network`; the namespace `shop` must exist, too. Resolves with its
 * client when its policy is in force.
 */
export async function controllerAccount(
  api: ApiServer,
  admin: ApiObjects,
  release: string,
  ...values: readonly string[]
): Promise<ApiObjects> {
  for (const object of rendered(release, values)) {
    const made = await admin.create(collectionOf(object), object);
    if (made.kind !== "object") throw new Error(`${object.kind} ${object.metadata.name}: ${made.why}`);
  }
  const client = await objectsOfAccount(api, admin, namespace, `${release}-controller`);
  // The API server compiles the policy some time after its creation.
  await vi.waitUntil(
    async () => String(outcome(await client.create("/api/v1/namespaces/shop/events", eventOf("other")))).includes("plexus only"),
    { timeout: 60_000, interval: 250 },
  );
  return client;
}

/** The options of `startController` for that account: a program that runs with the rights and the policy of the chart. */
export async function boundController(
  api: ApiServer,
  admin: ApiObjects,
  release: string,
  ...values: readonly string[]
): Promise<{ readonly kubeconfig: string; readonly leaseArgs: readonly string[] }> {
  for (const name of ["shop", namespace]) await api.namespace(name);
  const client = await controllerAccount(api, admin, release, ...values);
  client.close();
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return {
    kubeconfig: api.kubeconfig(`system:serviceaccount:${namespace}:${release}-controller`, groups),
    leaseArgs: ["--lease-namespace", namespace, "--lease-name", `${release}-controller`],
  };
}

function rendered(release: string, values: readonly string[]): readonly Manifest[] {
  const set = values.flatMap((each) => ["--set", each]);
  const { status, stdout, stderr } = runHelm("template", release, chart, "--namespace", namespace, "--no-hooks", ...set);
  if (status !== 0) throw new Error(stderr);
  return objectsOf(stdout).filter(
    ({ kind, metadata: { name } }) => rightsKinds.includes(kind) && name.startsWith(`${release}-controller`),
  );
}
