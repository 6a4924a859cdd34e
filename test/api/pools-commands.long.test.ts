// plexusctl pools on a real API server: the report, and a live import of whereabouts' and host-local's addresses; and the end of finalizers.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import type { CommandResult } from "../../host/node/command-line/command.ts";
import { runCommandLine } from "../../host/programs/plexusctl/run-command-line.ts";
import { leaseObject } from "../../src/kube/lease.ts";
import { externalPortObject } from "../../features/external-ports/rules/wanted-ports.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import { whereaboutsDefinition, whereaboutsGroup, whereaboutsKinds } from "../lab/kube/whereabouts-objects.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const poolPath = "/apis/plexus.dev/v1alpha1/addresspools/storage";

/** Resources of the test of finalizers. */
const releasedKinds: readonly string[] = [
  "podnetworks",
  "podnetworkattachments",
  "externalports",
  "externalports/status",
  "leases",
  "namespaces",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
];

/** The path of the definition of a kind of Plexus. */
function crd(plural: string): string {
  return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.plexus.dev`;
}

function ipPool(name: string, allocations: object): KubernetesObject & ApiObject {
  const metadata = { name, namespace: "kube-system" };
  return { apiVersion: `${whereaboutsGroup}/v1alpha1`, kind: "IPPool", metadata, spec: { range: "10.50.0.0/16", allocations } };
}

describe.skipIf(missing("plexusctl pools", privateNamespaces, kubeApi))("plexusctl pools", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  let directory: string;
  const create = async (object: ApiObject & KubernetesObject): Promise<void> => {
    const made = await objects.create(collectionOf(object), object);
    if (made.kind !== "object") throw new Error(made.why);
  };
  const plexusctl = (...args: readonly string[]): Promise<CommandResult> =>
    runCommandLine(["pools", ...args, "--kubeconfig", api.adminKubeconfig], false);
  const release = (...args: readonly string[]): Promise<CommandResult> =>
    runCommandLine(["finalizers", "release", "--kubeconfig", api.adminKubeconfig, ...args], false);
  const excluded = async (): Promise<unknown> => {
    const pool = outcome(await objects.get(poolPath));
    return typeof pool === "string" ? pool : (pool as { spec: { exclude?: unknown } }).spec.exclude;
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-pools-"));
    const requests = [
      "ippools",
      "overlappingrangeipreservations",
      "network-attachment-definitions",
      "pods",
      ...releasedKinds,
    ].flatMap((each) => ["get", "list", "create", "patch", "delete"].map((verb) => `${verb} ${each}`));
    api = await sharedApiServer({ alsoAllowed: [...poolRequests, ...requests] });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    for (const kind of whereaboutsKinds) await create(whereaboutsDefinition(kind));
    const allocations = {
      "2": { id: "c2", podref: "shop/web", ifname: "net1" },
      "3": { id: "c3", podref: "shop/gone", ifname: "net1" },
    };
    const [first, pool] = [
      ipPool("first", allocations),
      poolObject("storage", [{ subnet: "10.50.0.0/16" }], { exclude: ["10.50.0.0/16"] }),
    ];
    for (const object of [pool, first]) await vi.waitFor(() => create(object), { timeout: 60_000, interval: 100 });
    await objects.patch(`${poolPath}/status`, {
      status: {
        acceptedRanges: 1,
        conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      },
    });
    const status = JSON.stringify([{ name: "shop/storage", interface: "net1", ips: ["10.50.0.2"] }]);
    await api.pod("shop", "web", undefined, { "k8s.v1.cni.cncf.io/network-status": status });
  });
  afterAll(async () => {
    objects?.close();
    await api?.dispose();
    if (directory !== undefined) rmSync(directory, { recursive: true });
  });

  test("an import is refused while a definition still takes addresses of the pool from whereabouts", async () => {
    const ipam = { type: "whereabouts", range: "10.50.0.0/16" };
    await api.network("shop", "storage", [{ type: "macvlan", ipam }]);
    const { stdout, status } = await plexusctl("import", "storage", "--write");
    expect(status).toBe(1);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("shop/storage still takes addresses of 10.50.0.0/16 from whereabouts");
    await api.network("shop", "storage", [{ type: "macvlan", ipam: { type: "ipam-host-local", pool: "storage" } }]);
  });

  test("a duplicate is refused with both owners, and nothing is written", async () => {
    await create(ipPool("second", { "2": { id: "c9", podref: "play/db", ifname: "net1" } }));
    const { stdout, stderr, status } = await plexusctl("import", "storage", "--write", "-o", "json");
    expect([status, stderr]).toEqual([1, "nothing was written into AddressPool storage"]);
    const { conflicts } = JSON.parse(stdout) as { conflicts: readonly string[] };
    expect(conflicts[0]).toContain("10.50.0.2 has two owners: pod shop/web, container c2");
    expect(conflicts[0]).toContain("pod play/db, container c9");
    expect(await excluded()).toEqual(["10.50.0.0/16"]);
    await objects.remove(`/apis/${whereaboutsGroup}/v1alpha1/namespaces/kube-system/ippools/second`);
  });

  test("an import excludes exactly the held addresses, and a later one releases those that are gone", async () => {
    expect(await plexusctl("import", "storage")).toMatchObject({ status: 0, stdout: expect.stringContaining("add --write") });
    expect(await excluded()).toEqual(["10.50.0.0/16"]);
    const { stdout, status } = await plexusctl("import", "storage", "--write");
    expect([status, await excluded()]).toEqual([0, ["10.50.0.2/31"]]);
    expect(stdout).toContain("10.50.0.3 of pod shop/gone");
    await objects.patch(`/apis/${whereaboutsGroup}/v1alpha1/namespaces/kube-system/ippools/first`, {
      spec: { allocations: { "3": null } },
    });
    expect(await plexusctl("import", "storage", "--write")).toMatchObject({ status: 0 });
    expect(await excluded()).toEqual(["10.50.0.2"]);
  });

  test("an import is refused without the policy that keeps whereabouts from further records", async () => {
    const name = "plexus-imported-addresses";
    const before = await excluded();
    await objects.remove(`/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/${name}`);
    const why = `whereabouts can still give addresses of .*/ippools/first: the policy ${name} is missing`;
    await expect.poll(async () => (await plexusctl("import", "storage", "--write")).stderr).toMatch(new RegExp(why));
    expect(await excluded()).toEqual(before);
  });

  test("leases of host-local are imported beside whereabouts' addresses, and a lease of another's address is refused", async () => {
    const network = join(directory, "storage");
    mkdirSync(network);
    writeFileSync(join(network, "10.50.0.77"), "c77\r\nnet1");
    writeFileSync(join(network, "last_reserved_ip.0"), "10.50.0.77");
    const args = ["import", "storage", "--host-local", directory, "--source", "host-local-n1", "--write"];
    await objects.patch(poolPath, { spec: { exclude: ["10.50.0.0/16", "10.50.0.2"] } });
    const guarded = await plexusctl(...args);
    expect(guarded.status).toBe(0);
    expect(guarded.stdout.replaceAll(/\s+/g, " ")).toContain("take 10.50.0.0/16 out of spec.exclude");
    expect(await excluded()).toEqual(["10.50.0.0/16", "10.50.0.2", "10.50.0.77"]);
    await objects.patch(poolPath, { spec: { exclude: ["10.50.0.2", "10.50.0.77"] } });
    expect(await plexusctl(...args)).toMatchObject({ status: 0 });
    expect(await excluded()).toEqual(["10.50.0.2", "10.50.0.77"]);
    writeFileSync(join(network, "10.50.0.2"), "c99\r\nnet1");
    const refused = await plexusctl(...args, "-o", "yaml");
    expect(refused.status).toBe(1);
    expect(refused.stdout.replaceAll(/\s+/g, " ")).toContain("was imported from whereabouts already");
    writeFileSync(join(network, "10.50.0.78"), "");
    expect((await plexusctl(...args, "-o", "json")).stdout).toContain("10.50.0.78: a lease has a container's id");
  });

  test("the report has use by node and block, and conflicts end with status 1", async () => {
    const claim = { pool: "storage", first: "10.50.1.0", last: "10.50.1.63", holder: "h", freeAfterSeconds: 60 };
    await create({
      apiVersion: "plexus.dev/v1alpha1",
      kind: "AddressBlock",
      metadata: { name: "storage-4" },
      spec: { ...claim, index: 4, node: "n7" },
    });
    const shown = await plexusctl("show", "storage", "--blocks");
    expect(shown.stdout).toMatch(/^storage-4 +n7 +10\.50\.1\.0-10\.50\.1\.63 +0\/64 +claimed$/m);
    expect(shown.stdout).toContain("no conflicts");
    expect(shown.status).toBe(0);
    const status = JSON.stringify([{ name: "shop/storage", interface: "net1", ips: ["10.50.0.2", "10.50.1.5"] }]);
    await api.pod("shop", "thief", undefined, { "k8s.v1.cni.cncf.io/network-status": status });
    const bad = await plexusctl("show", "-o", "json");
    expect(bad.status).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      pools: [{ name: "storage", blocks: 1, nodes: 1 }],
      conflicts: expect.arrayContaining([
        expect.stringMatching(
          /^10\.50\.0\.2 has two owners: pod shop\/(web|thief) on node \S+ and pod shop\/(web|thief) on node/,
        ),
        expect.stringContaining("10.50.1.5 of pod shop/thief on node"),
      ]),
    });
    expect((await plexusctl("show", "none")).stderr).toContain("there is no readable AddressPool none");
  });

  test("without a controller, finalizers release lets objects in deletion and their definitions go", async () => {
    for (const file of ["networks", "external-ports"]) await applyObjects(objects, `deploy/helm/plexus/files/${file}.yaml`);
    const podNetwork = networkObjects.podNetwork("storage");
    const port = externalPortObject("shop", {
      podName: "web",
      podUid: "u1",
      nodeName: "n1",
      index: 0,
      provider: "neutron",
      parameters: "{}",
      requested: {},
      definition: { namespace: "shop", name: "storage" },
    });
    const attachment = networkObjects.attachment("storage", "storage");
    for (const object of [
      { ...podNetwork, metadata: { ...podNetwork.metadata, finalizers: ["example.com/other", "plexus.dev/in-use"] } },
      { ...attachment, metadata: { ...attachment.metadata, finalizers: ["plexus.dev/in-use"] } },
      port as ApiObject & KubernetesObject,
    ])
      await vi.waitFor(() => create(object), { timeout: 60_000, interval: 100 });
    const ports = "/apis/plexus.dev/v1alpha1/namespaces/shop/externalports/u1-0";
    const status = {
      providerId: "port-7",
      mac: "fa:16:3e:00:00:01",
      addresses: [{ address: "10.9.0.4/24" }],
      binding: { type: "address-only" },
    };
    expect((await objects.patch(`${ports}/status`, { status })).kind).toBe("object");
    const definitions = ["podnetworks", "podnetworkattachments", "externalports"];
    for (const plural of definitions) expect((await objects.remove(crd(plural))).kind).toBe("object");

    const listed = await release();
    expect(listed.status).toBe(0);
    for (const name of ["PodNetwork ", "PodNetworkAttachment ", "AddressPool ", "ExternalPort "])
      expect(listed.stdout).toContain(name);
    expect(listed.stdout).toContain("neutron port-7");
    const lease = { namespace: "kube-system", name: "plexus-controller" };
    const renewed = (time: number, durationSeconds = 300): ApiObject => {
      const now = new Date(time).toISOString();
      const held = { holder: "replica-1", durationSeconds, transitions: 0, renewTime: now, acquireTime: now };
      return leaseObject(lease, held, undefined);
    };
    const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    expect((await objects.create(leases, renewed(0))).kind).toBe("object");
    const refused = release("--write");
    // A controller renews its Lease meanwhile.
    const renewing = setInterval(() => void objects.patch(`${leases}/plexus-controller`, renewed(Date.now())), 200);
    expect(await refused).toMatchObject({ status: 1, stderr: expect.stringContaining("plexus-controller replica-1 runs") });
    clearInterval(renewing);
    expect((await objects.get(ports)).kind).toBe("object");

    // The Lease of a controller that was killed ends by this machine's clock.
    expect((await objects.patch(`${leases}/plexus-controller`, renewed(Date.now(), 1))).kind).toBe("object");
    const done = await release("--write", "-o", "name");
    expect(done).toMatchObject({ status: 0, stdout: expect.stringContaining("ExternalPort shop/u1-0\n") });
    for (const plural of ["podnetworkattachments", "externalports"])
      await expect.poll(async () => (await objects.get(crd(plural))).kind).toBe("absent");
    // Another program's finalizer stays.
    const kept = outcome(await objects.get("/apis/plexus.dev/v1alpha1/podnetworks/storage"));
    expect(kept).toMatchObject({ metadata: { finalizers: ["example.com/other"] } });
    expect(outcome(await objects.get(poolPath))).toMatchObject({ metadata: { name: "storage" } });
    expect((await release("--write")).stdout).toBe("no object has a finalizer of Plexus\n");
  });
});
