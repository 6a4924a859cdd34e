// Objects whose JSON is longer than a page of a list. A tenant's pod or claim of 1.3 MiB in etcd has more than 6 MiB as JSON, because the API server writes `<` as six
// bytes. Lists and watches of all objects must go on behind it.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject } from "../../src/json/document.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { Reflector } from "../../host/cluster/kube/reflector.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { objectsOf } from "../lab/kube/apply.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const resources = ["pods", "resourceclaims", "resourceclaims/status"];
const verbs = ["get", "list", "watch", "create", "update", "patch", "delete"];
const pods = "/api/v1/namespaces/shop/pods";
const claims = "/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims";
const patient = { timeout: 60_000, interval: 100 };

const nameOf = (object: unknown): string => {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  return isJsonObject(metadata) ? String(metadata["name"]) : "";
};
const escaped = (length: number): string => "<".repeat(length);
const metadata = (name: string, annotation: string): object => ({ name, namespace: "shop", annotations: { a: annotation } });

/** A pod with an environment of this length. */
const pod = (name: string, length: number): Readonly<Record<string, unknown>> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: metadata(name, ""),
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: "c", image: "i", env: [{ name: "E", value: escaped(length) }] }],
  },
});

/** A claim with this many configurations of 10 KB of another driver. */
function claim(name: string, count: number): Readonly<Record<string, unknown>> {
  const config = Array.from({ length: count }, () => ({
    opaque: { driver: "other.example", parameters: { a: escaped(10_000) } },
  }));
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: metadata(name, escaped(count === 0 ? 0 : 250_000)),
    spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }], config } },
  };
}

describe.skipIf(missing("long objects of a real API server", privateNamespaces, kubeApi))("long objects", () => {
  let api: ApiServer;
  let admin: ApiObjects;
  const ending: (() => void)[] = [];
  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: resources.flatMap((each) => verbs.map((verb) => `${verb} ${each}`)) });
    admin = objectsOf(api.adminKubeconfig);
    await api.namespace("shop");
  }, 120_000);
  afterAll(async () => {
    for (const end of ending) end();
    admin?.close();
    await api?.dispose();
  });

  /** The names in a collection as a reflector has them. */
  function reflected(path: string): { readonly names: () => readonly string[]; readonly warnings: readonly string[] } {
    const warnings: string[] = [];
    const { connection, credentials } = admin;
    const reflector = new Reflector<true>({
      what: path,
      connection,
      credentials,
      path,
      query: {},
      metadataOnly: false,
      consistent: true,
      bounds: { maxObject: 1024, maxTotal: 1024 * 1024 },
      read: (object) => ({ namespace: "shop", name: nameOf(object), value: true, size: 1 }),
      warn: (text) => warnings.push(text),
    });
    reflector.start();
    ending.push(() => reflector.stop());
    return { names: () => [...reflector.stored()].map(({ name }) => name).toSorted(), warnings };
  }

  async function listedNames(path: string): Promise<unknown> {
    const listed = await admin.list(path);
    return listed.kind === "list" ? listed.items.map(nameOf) : listed;
  }

  test("a pod of 7 MB holds up neither the list nor the watch of the pods around it", async () => {
    for (const name of ["a", "c"]) await admin.create(pods, pod(name, 1));
    const before = reflected(pods);
    await expect.poll(before.names, patient).toEqual(["a", "c"]);
    // Plexus' client reads no answer of this length to a write.
    expect(await admin.create(pods, pod("b", 1_200_000))).toMatchObject({
      kind: "failed",
      why: expect.stringContaining("bytes"),
    });
    await admin.create(pods, pod("d", 1));
    await expect.poll(before.names, patient).toEqual(["a", "b", "c", "d"]);
    expect(before.warnings).toEqual([]);
    expect(await listedNames(pods)).toEqual(["a", "b", "c", "d"]);
    const after = reflected(pods);
    await expect.poll(after.names, patient).toEqual(["a", "b", "c", "d"]);
  });

  test("a claim whose allocation repeats its configurations holds up neither the list nor the watch of other tenants' claims", async () => {
    await admin.create(claims, claim("a", 0));
    const before = reflected(claims);
    await expect.poll(before.names, patient).toEqual(["a"]);
    const made = await admin.create(claims, claim("b", 32));
    if (made.kind !== "object") throw new Error(made.why);
    const { config } = (made.object["spec"] as { readonly devices: { readonly config: readonly object[] } }).devices;
    const devices = { results: [], config: config.map((each) => ({ source: "FromClaim", ...each })) };
    const results = [{ request: "r", driver: "other.example", pool: "p", device: "d" }];
    // A patch would escape the configurations in the stored object, too.
    const status = { allocation: { devices: { ...devices, results } } };
    const allocated = await admin.replace(`${claims}/b/status`, { ...made.object, status });
    expect(allocated).toMatchObject({ kind: "failed", why: expect.stringContaining("bytes") });
    await admin.create(claims, claim("c", 0));
    await expect.poll(before.names, patient).toEqual(["a", "b", "c"]);
    expect(before.warnings).toEqual([]);
    expect(await listedNames(claims)).toEqual(["a", "b", "c"]);
  });
});
