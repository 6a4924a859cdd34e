// Networks as claims on a real API server, with the rights and the admission policies of the chart: a client of gRPC's own library plays the kubelet.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client, credentials } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import { parseAllDocuments } from "yaml";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DeviceFiles } from "../../features/claims/driver/device-files.ts";
import { serveDriver } from "../../features/claims/driver/driver-server.ts";
import { ClaimStore, claimDirectory } from "../../features/claims/node/claim-store.ts";
import { claimedNetworks } from "../../features/claims/node/pod-claims.ts";
import { readDeviceSettings } from "../../features/claims/rules/device-settings.ts";
import { readNetworkParameters } from "../../features/claims/rules/network-parameters.ts";
import type { NodeLink } from "../../features/claims/rules/node-link.ts";
import { type OfferedDevice, offeredDevices } from "../../features/claims/rules/offered-devices.ts";
import { SlicePublisher } from "../../features/claims/slices/publish-slices.ts";
import { ClaimReports } from "../../features/claims/status/report-claims.ts";
import { Journal } from "../../host/store/journal/journal.ts";
import { sweepClaims } from "../../features/claims/node/sweep-claims.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import type { RpcServer } from "../../host/node/grpc/rpc-server.ts";
import { bootId } from "../../host/system/boot-id.ts";
import { systemClock } from "../../host/system/clock.ts";
import type { Pod } from "../../src/npwg/pod.ts";
import { root } from "../lab/compiled.ts";
import { objectsOfAccount } from "../lab/kube/account-objects.ts";
import { objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { render } from "../lab/kube/chart.ts";
import { collectionOf } from "../lab/kube/apply.ts";
import { helm } from "../lab/kube/helm.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const claimsPath = "/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims";
const slicesPath = "/apis/resource.k8s.io/v1/resourceslices";
const verbs = ["get", "list", "create", "update", "patch", "delete"];
const resources = [
  "resourceclaims",
  "resourceclaims/status",
  "resourceslices",
  "resourceclaimtemplates",
  "deviceclasses",
  "pods",
  "nodes",
  "serviceaccounts",
  "serviceaccounts/token",
  "clusterroles",
  "clusterrolebindings",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
];
const link = (isUp: boolean): NodeLink => ({
  name: "eth1",
  kind: "link",
  isUp,
  isAdminUp: true,
  mtu: 1500,
  speed: 25_000,
  driver: "mlx5_core",
  pciAddress: "0000:18:02.1",
  pcieRoot: "pci0000:16",
  pciVendor: "15b3",
  numaNode: 0,
  hasRdma: true,
});

function slice(
  nodeName: string,
  driver = "plexus.dev",
  name = `${nodeName}-plexus-0`,
  pool = nodeName,
): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name },
    spec: { driver, nodeName, pool: { name: pool, generation: 1, resourceSliceCount: 1 }, devices: [{ name: "d" }] },
  };
}

const role = (name: string, rules: readonly object[]): Readonly<Record<string, unknown>> => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  rules,
});

const podOf = (uid: string): Pod => ({ namespace: "shop", name: "web", uid, annotations: new Map<string, string>() });

type Configs = readonly { readonly opaque: { readonly parameters: unknown } }[];
/** An example of the page: the chart's values, or an object. */
interface Example {
  readonly kind: string;
  readonly claims?: { readonly devices: unknown };
  readonly spec?: { readonly config?: Configs; readonly spec?: { readonly devices?: { readonly config?: Configs } } };
}

const rights = "/apis/rbac.authorization.k8s.io/v1";
const bindingOf = (name: string, subject: object): Readonly<Record<string, unknown>> => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
  subjects: [subject],
});

const askingPod = (where: "containers" | "initContainers", asked: object): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "asks" },
  spec: {
    containers: [{ name: "c", image: "i" }],
    [where]: [{ name: where === "containers" ? "c" : "init", image: "i", resources: asked }],
  },
});

/** A pod that names these claims. */
const sharingPod = (names: readonly string[]): Readonly<Record<string, unknown>> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "shares-" },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: "c", image: "i" }],
    resourceClaims: names.map((name) => ({ name, resourceClaimName: name })),
  },
});

/** A virtual function, which an exclusive claim gets. */
const virtualFunction = (): readonly OfferedDevice[] => {
  const entry = { name: "vf", match: { name: "eth2" }, exclusive: true, resourceName: "example.com/vf" };
  const settings = readDeviceSettings(JSON.stringify({ devices: [entry] }));
  return settings.ok ? offeredDevices(settings.value, [{ ...link(true), name: "eth2" }]).devices : [];
};

/** The times of all taints in the specs of slices. */
const timesIn = (specs: unknown): readonly unknown[] =>
  [...JSON.stringify(specs).matchAll(/"timeAdded":"([^"]+)"/g)].map(([, time]) => time);

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

type Unary = (request: object) => Promise<object>;

describe.skipIf(missing("networks as claims with the API server", privateNamespaces, kubeApi, helm))("networks as claims", () => {
  let api: ApiServer;
  let admin: ApiObjects;
  let daemon: ApiObjects;
  let directory: string;
  let server: RpcServer;
  let store: ClaimStore;
  let isUp = true;
  let mtu = 1500;
  let registered = 0;
  const warnings: string[] = [];
  const log = (level: "info" | "warn", text: string): void => {
    if (level === "warn") warnings.push(text);
  };
  const look = (): readonly OfferedDevice[] => {
    const entry = { name: "nic", match: { name: "eth1" }, shared: { attachments: 3 } };
    const settings = readDeviceSettings(JSON.stringify({ devices: [entry] }));
    return settings.ok ? offeredDevices(settings.value, [{ ...link(isUp), mtu }]).devices : [];
  };
  const calls: Record<string, Unary> = {};

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: resources.flatMap((each) => verbs.map((verb) => `${verb} ${each}`)) });
    admin = objectsOf(api.adminKubeconfig);
    await api.namespace("shop");
    for (const name of ["node-a", "node-b"])
      await admin.create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } });
    const objects = render("--set", "claims.enabled=true,claims.use=deny,networks.enabled=true");
    for (const object of objects.filter(
      ({ kind, metadata }) =>
        metadata.name.startsWith("plexus-claim") || (kind === "ServiceAccount" && metadata.name === "plexus"),
    )) {
      const made = await admin.create(collectionOf(object), object);
      if (made.kind === "refused" || made.kind === "failed")
        throw new Error(`${object.kind} ${object.metadata.name}: ${made.why}`);
    }
    daemon = await objectsOfAccount(api, admin, "kube-system", "plexus", "node-a");
    directory = mkdtempSync(join(tmpdir(), "plexus-claims-"));
    store = new ClaimStore(directory);
    const socket = join(directory, "plexus.dev-reg.sock");
    const served = await serveDriver({
      nodeName: "node-a",
      api: async () => daemon,
      store,
      files: new DeviceFiles(join(directory, "cdi"), directory),
      device: (name) => [...look(), ...virtualFunction()].find((each) => each.name === name),
      socket,
      uids: [process.getuid?.() ?? -1],
      clock: systemClock,
      log,
      onRegistered: () => (registered += 1),
    });
    if (!served.ok) throw new Error(served.fault.msg);
    server = served.value;
    for (const [file, service] of [
      ["plugin-registration.proto", "pluginregistration.Registration"],
      ["resource-driver.proto", "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin"],
    ] as const)
      kubelet(socket, loadSync(join(import.meta.dirname, "../lab/cluster", file))[service] as ServiceDefinition);
    // The API server compiles the policies some time after their creation.
    const refuses = async (): Promise<void> => {
      const tried = outcome(await daemon.create(`${slicesPath}?dryRun=All`, slice("node-b")));
      if (typeof tried !== "string" || !tried.includes("own node only")) throw new Error(JSON.stringify(tried));
    };
    await vi.waitFor(refuses, { timeout: 60_000, interval: 200 });
  }, 120_000);
  afterAll(async () => {
    server?.close();
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    await api?.dispose();
  });

  /** The methods of a service as the kubelet calls them. */
  function kubelet(socket: string, definition: ServiceDefinition): void {
    const client = new Client(`unix:${socket}`, credentials.createInsecure());
    for (const { path, requestSerialize, responseDeserialize } of Object.values(definition))
      calls[path.split("/").at(-1) ?? ""] = (request) =>
        new Promise((resolve, reject) => {
          client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, value) =>
            error === null ? resolve(value ?? {}) : reject(error),
          );
        });
  }
  const call = (name: string, request: object): Promise<object> => calls[name]?.(request) ?? Promise.reject(new Error(name));

  const parameters = { apiVersion: "plexus.dev/v1alpha1", kind: "Network", definition: { name: "blue" }, interface: "net7" };

  /** A claim as the scheduler leaves it, allocated on a node for a pod of this uid. */
  const allocated = async (
    name: string,
    node: string,
    more: object | undefined = parameters,
    device = "nic-eth1",
  ): Promise<{ readonly namespace: string; readonly name: string; readonly uid: string }> => {
    const spec = { devices: { requests: [{ name: "net", exactly: { deviceClassName: "links" } }] } };
    const created = await admin.create(claimsPath, {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaim",
      metadata: { name },
      spec,
    });
    if (created.kind !== "object") throw new Error(created.why);
    const status = {
      allocation: {
        nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }] },
        devices: {
          results: [{ request: "net", driver: "plexus.dev", pool: node, device }],
          config: device === "nic-eth1" ? [{ source: "FromClaim", opaque: { driver: "plexus.dev", parameters: more } }] : [],
        },
      },
      reservedFor: [{ resource: "pods", name: "web", uid: "pod-1" }],
    };
    const changed = await admin.replace(`${claimsPath}/${name}/status`, { ...created.object, status });
    if (changed.kind !== "object") throw new Error(changed.why);
    const { uid } = created.object["metadata"] as { readonly uid: string };
    return { namespace: "shop", name, uid };
  };
  const files = (): readonly string[] => readdirSync(claimDirectory(directory)).filter((name) => !name.startsWith("."));

  test("DR-01: the kubelet learns the driver's name, versions and socket, and registers it", async () => {
    expect(await call("GetInfo", {})).toMatchObject({
      type: "DRAPlugin",
      name: "plexus.dev",
      endpoint: join(directory, "plexus.dev-reg.sock"),
      supportedVersions: ["v1.DRAPlugin"],
    });
    await call("NotifyRegistrationStatus", { pluginRegistered: true });
    expect(registered).toBe(1);
    await call("NotifyRegistrationStatus", { pluginRegistered: false, error: "the name is taken" });
    expect(warnings).toContainEqual(expect.stringContaining("the kubelet refused the driver plexus.dev: the name is taken"));
  });

  test("DR-05, DR-06: Prepare writes one file, the same Prepare the same answer, the pod's ADD finds it, and Unprepare removes it", async () => {
    const claim = await allocated("prepared", "node-a");
    const answer = {
      claims: { [claim.uid]: { devices: [{ requestNames: ["net"], poolName: "node-a", deviceName: "nic-eth1" }] } },
    };
    expect(await call("NodePrepareResources", { claims: [claim] })).toMatchObject(answer);
    expect(await call("NodePrepareResources", { claims: [claim] })).toMatchObject(answer);
    expect(files()).toEqual([`${claim.uid}.${bootId()}.shop.shared.json`]);
    const configuration = { cniDir: directory, namespaceIsolation: false, globalNamespaces: [] };
    expect(await claimedNetworks({ configuration }, undefined, podOf("pod-1"))).toMatchObject({
      value: [
        { selection: { namespace: "shop", name: "blue", interface: "net7" }, claim: { name: "prepared", device: "nic-eth1" } },
      ],
    });
    // The file names no other pod, so that the claim is read anew: it is not reserved for this pod.
    const cluster = {
      api: { call: async () => ({ ok: true as const, value: { status: 404, body: "{}" } }), pause: async () => undefined },
    };
    expect(await claimedNetworks({ configuration }, cluster as never, podOf("pod-2"))).toEqual({ ok: true, value: [] });
    // DR-11: while the API is away, the pod that Prepare named starts, and a later one gets an error that the runtime repeats.
    const away = { ok: false as const, fault: { kind: "API_UNAVAILABLE", msg: "the API is away" } };
    const gone = { api: { call: async () => away, pause: async () => undefined } };
    expect(await claimedNetworks({ configuration }, gone as never, podOf("pod-1"))).toMatchObject({ value: [{}] });
    expect(await claimedNetworks({ configuration }, gone as never, podOf("pod-2"))).toEqual(away);
    for (let time = 0; time < 2; time++)
      expect(await call("NodeUnprepareResources", { claims: [claim] })).toMatchObject({ claims: { [claim.uid]: {} } });
    expect(files()).toEqual([]);
  });

  test("DR-15: an exclusive device without a network of its own has its device information and its CDI device until Unprepare", async () => {
    const claim = await allocated("exclusive", "node-a", parameters, "vf-eth2");
    const id = `plexus.dev/claim=${claim.uid}-net`;
    const information = join(directory, "var/run/k8s.cni.cncf.io/devinfo/dp/example.com-vf-0000:18:02.1-device.json");
    const specification = join(directory, "cdi", `plexus.dev-claim_${claim.uid}.json`);
    for (let time = 0; time < 2; time++)
      expect(await call("NodePrepareResources", { claims: [claim] })).toMatchObject({
        claims: { [claim.uid]: { devices: [{ deviceName: "vf-eth2", cdiDeviceIds: [id] }] } },
      });
    expect(readJson(information)).toEqual({ type: "pci", version: "1.1.0", pci: { "pci-address": "0000:18:02.1" } });
    const env = ["PLEXUS_PCI_NET=0000:18:02.1", "PCIDEVICE_EXAMPLE_COM_VF=0000:18:02.1"];
    expect(readJson(specification)).toMatchObject({ devices: [{ name: `${claim.uid}-net`, containerEdits: { env } }] });
    // Another user's programs read both.
    for (const path of [information, specification]) expect(statSync(path).mode & 0o777).toBe(0o644);
    // Its network is the annotation's.
    const configuration = { cniDir: directory, namespaceIsolation: false, globalNamespaces: [] };
    expect(await claimedNetworks({ configuration }, undefined, podOf("pod-1"))).toEqual({ ok: true, value: [] });
    await call("NodeUnprepareResources", { claims: [claim] });
    for (const path of [information, specification]) expect(readdirSync(dirname(path))).toEqual([]);
    expect(files()).toEqual([]);
  });

  test("DR-04, DR-05: a claim that cannot be prepared has its reason, and leaves no file", async () => {
    const wrong = await allocated("wrong", "node-a", { ...parameters, vlan: 3 });
    const elsewhere = await allocated("elsewhere", "node-b");
    const absent = { namespace: "shop", name: "absent", uid: "none" };
    const replaced = { ...wrong, uid: "older" };
    expect(await call("NodePrepareResources", { claims: [wrong, elsewhere, absent, replaced] })).toMatchObject({
      claims: {
        [wrong.uid]: {
          error: expect.stringContaining(
            'resource claim shop/wrong has status.allocation.devices.config[0] (from the claim): opaque.parameters."vlan" is no field',
          ),
        },
        [elsewhere.uid]: { error: expect.stringContaining("which node node-a does not offer now") },
        none: { error: expect.stringContaining("cannot be read from the Kubernetes API: HTTP 404") },
        older: { error: expect.stringContaining('but the kubelet means "older"') },
      },
    });
    expect(files()).toEqual([]);
  });

  test("DR-02, DR-08: the node's slice follows its link, and comes back after a kubelet removed it", async () => {
    let now = 0;
    const publisher = new SlicePublisher({ nodeName: "node-a", api: async () => daemon, look, log, now: () => now });
    const published = async (): Promise<unknown> => {
      const listed = await admin.list(slicesPath);
      return listed.kind === "list" ? listed.items.map((each) => (each as { readonly spec: unknown }).spec) : listed;
    };
    await publisher.round();
    const [device] = [{ name: "nic-eth1", allowMultipleAllocations: true, capacity: { attachments: { value: "3" } } }];
    expect(await published()).toMatchObject([{ nodeName: "node-a", pool: { name: "node-a", generation: 1 }, devices: [device] }]);
    isUp = false;
    await publisher.round();
    const taints = [{ key: "plexus.dev/link-down", effect: "NoSchedule" }];
    expect(await published()).toMatchObject([{ pool: { generation: 2 }, devices: [{ taints }] }]);
    const since = timesIn(await published());
    expect(since).toEqual([expect.any(String)]);
    // Another change of the pool begins no toleration of the taint anew. The API server has whole seconds.
    await setTimeout(1_100);
    mtu = 9000;
    await publisher.round();
    const changed = await published();
    expect(changed).toMatchObject([{ pool: { generation: 3 }, devices: [{ taints, attributes: { mtu: { int: 9000 } } }] }]);
    expect(timesIn(changed)).toEqual(since);
    // A kubelet that starts removes the slices.
    await admin.remove(`${slicesPath}/node-a-plexus-0`);
    now += 600_000;
    await publisher.round();
    expect(timesIn(await published())).toEqual(since);
    isUp = true;
    await publisher.round();
    expect(await published()).toMatchObject([{ pool: { generation: 2 }, devices: [device] }]);
    expect(timesIn(await published())).toEqual([]);
    await admin.remove(`${slicesPath}/node-a-plexus-0`);
    await publisher.round();
    expect(await published()).toEqual([]);
    publisher.renew();
    await vi.waitFor(async () => expect(await published()).toMatchObject([{ pool: { generation: 1 } }]), { timeout: 60_000 });
    publisher.stop();
    expect(publisher.failure).toBe("");
  });

  /** The devices in a claim's status. */
  const devicesOf = async (name: string): Promise<unknown> => {
    const read = await admin.get(`${claimsPath}/${name}`);
    return read.kind === "object" ? (read.object["status"] as { readonly devices?: unknown }).devices : read;
  };

  test("DR-07: the daemon reports a failed ADD in the claim, and changes claims of its own node and devices of its own driver only", async () => {
    const [own, other] = [await allocated("own", "node-a"), await allocated("other", "node-b")];
    await call("NodePrepareResources", { claims: [own] });
    const reports = new ClaimReports(store, async () => daemon, new Journal(directory), systemClock, log);
    const environment = new Map([
      ["CNI_COMMAND", "ADD"],
      ["CNI_ARGS", "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=pod-1"],
    ]);
    reports.noteCall({ name: "plexus" } as never, environment, {
      status: 1,
      stdout: JSON.stringify({ code: 7, msg: "no such network" }),
    });
    await vi.waitFor(
      async () =>
        expect(await devicesOf("own")).toMatchObject([
          {
            device: "nic-eth1",
            conditions: [{ type: "Ready", status: "False", reason: "AttachFailed", message: "no such network" }],
          },
        ]),
      { timeout: 60_000 },
    );
    reports.noteCall({ name: "plexus" } as never, new Map([...environment, ["CNI_COMMAND", "DEL"]]), { status: 0, stdout: "" });
    await vi.waitFor(async () => expect((await devicesOf("own")) ?? []).toEqual([]), { timeout: 60_000 });
    expect(warnings.filter((each) => each.includes("status"))).toEqual([]);
    const status = async (name: string, value: object): Promise<unknown> =>
      outcome(await daemon.patch(`${claimsPath}/${name}/status`, { status: value }));
    const device = { driver: "plexus.dev", pool: "node-b", device: "nic-eth1", conditions: [] };
    expect(await status(other.name, { devices: [device] })).toContain("cannot arbitrary-node:patch");
    // Without the API server's own rule, which is new in 1.36, the admission policy alone decides.
    const every = [
      { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims/driver"], verbs: ["arbitrary-node:patch"] },
      { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims/binding"], verbs: ["patch"] },
    ];
    await admin.create(`${rights}/clusterroles`, role("older", every));
    await admin.create(
      `${rights}/clusterrolebindings`,
      bindingOf("older", { kind: "ServiceAccount", namespace: "kube-system", name: "plexus" }),
    );
    const granted = async (): Promise<void> => {
      const tried = await status(other.name, { devices: [device] });
      if (String(tried).includes("arbitrary-node:patch")) throw new Error(String(tried));
    };
    await vi.waitFor(granted, { timeout: 60_000, interval: 200 });
    expect(await status(other.name, { devices: [device] })).toContain("own node only");
    expect(await status("own", { devices: [{ ...device, driver: "other.example", pool: "node-a" }] })).toMatch(
      /driver plexus\.dev only|must be an allocated device/,
    );
    expect(await status("own", { reservedFor: [] })).toContain("status.devices of claims only");
    expect(outcome(await daemon.patch(`${claimsPath}/own`, { metadata: { labels: { a: "b" } } }))).toContain(
      "cannot patch resource",
    );
    for (const foreign of [
      slice("node-a", "other.example"),
      slice("node-a", "plexus.dev", "node-b-plexus-0"),
      slice("node-a", "plexus.dev", "node-a-plexus-x"),
      slice("node-a", "plexus.dev", "node-a-plexus-7", "node-b"),
    ])
      expect(outcome(await daemon.create(`${slicesPath}?dryRun=All`, foreign))).toContain("own node only");
    await call("NodeUnprepareResources", { claims: [own] });
  });

  test("DR-07: a claim whose configuration has characters that the API server escapes gets its status", async () => {
    const list = { cniVersion: "1.0.0", name: "n", plugins: [{ type: "bridge", note: "a < b && c > d" }] };
    const { definition: _, ...rest } = parameters;
    const claim = await allocated("escaped", "node-a", { ...rest, list });
    await call("NodePrepareResources", { claims: [claim] });
    const reports = new ClaimReports(store, async () => daemon, new Journal(directory), systemClock, log);
    const environment = new Map([
      ["CNI_COMMAND", "ADD"],
      ["CNI_ARGS", "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=pod-1"],
    ]);
    reports.noteCall({ name: "plexus" } as never, environment, {
      status: 1,
      stdout: JSON.stringify({ code: 7, msg: "no bridge" }),
    });
    await vi.waitFor(async () => expect(await devicesOf("escaped")).toMatchObject([{ conditions: [{ message: "no bridge" }] }]), {
      timeout: 60_000,
    });
    expect(warnings.filter((each) => each.includes("status"))).toEqual([]);
    reports.stop();
    await call("NodeUnprepareResources", { claims: [claim] });
  });

  test("DR-11: a claim that was removed without the kubelet leaves no file, unless an attachment uses it", async () => {
    const [kept, lost, used] = [
      await allocated("kept", "node-a"),
      await allocated("lost", "node-a"),
      await allocated("used", "node-a"),
    ];
    await call("NodePrepareResources", { claims: [kept, lost, used] });
    for (const { name } of [lost, used]) await admin.remove(`${claimsPath}/${name}`);
    const key = { containerId: "c", network: "plexus", ifname: "eth0" };
    const attachments = [{ claim: { ...used, pool: "node-a", device: "nic-eth1", shareId: "" } }];
    const journal = { list: () => ({ ok: true, value: [key] }), load: () => ({ ok: true, value: { plan: { attachments } } }) };
    expect(
      await sweepClaims({ store, files: new DeviceFiles(undefined, directory), journal: journal as never, api: daemon }),
    ).toEqual({ ok: true, value: 1 });
    expect(files().toSorted()).toEqual([kept, used].map(({ uid }) => `${uid}.${bootId()}.shop.shared.json`).toSorted());
    await call("NodeUnprepareResources", { claims: [kept, used] });
  });

  const podWith = async (...names: readonly string[]): Promise<Pod> => {
    const made = await admin.create("/api/v1/namespaces/shop/pods", sharingPod(names));
    if (made.kind !== "object") throw new Error(made.why);
    const { name, uid } = made.object["metadata"] as { readonly name: string; readonly uid: string };
    return { namespace: "shop", name, uid, annotations: new Map<string, string>() };
  };

  /** The networks of a pod's claims, as its ADD gets them. The paths that it reads from the API are added to `asked`. */
  const attached = (pod: Pod, asked: string[] = []): ReturnType<typeof claimedNetworks> => {
    const reader = {
      call: async ({ path }: { readonly path: string }) => {
        asked.push(path);
        const answer = await admin.get(path);
        const body = answer.kind === "object" ? JSON.stringify(answer.object) : "{}";
        return { ok: true as const, value: { status: answer.kind === "object" ? 200 : 404, body } };
      },
      pause: async () => undefined,
    };
    const configuration = { cniDir: directory, namespaceIsolation: false, globalNamespaces: [] };
    return claimedNetworks({ configuration }, { api: reader } as never, pod);
  };

  test("DR-11: a damaged file of a shared claim refuses the claim's own pods, and no other pod of the namespace", async () => {
    const [damaged, whole] = [await allocated("damaged", "node-a"), await allocated("whole", "node-a")];
    await call("NodePrepareResources", { claims: [damaged, whole] });
    writeFileSync(join(directory, "claims", `${damaged.uid}.${bootId()}.shop.shared.json`), "{");
    const asked: string[] = [];
    const attach = (pod: Pod): ReturnType<typeof claimedNetworks> => attached(pod, asked);
    expect(await attach(await podWith("whole"))).toEqual({ ok: true, value: [] });
    expect(await attach(await podWith())).toEqual({ ok: true, value: [] });
    const own = await podWith("whole", "damaged");
    const refusal = {
      fault: { kind: "CLAIM_UNUSABLE", msg: expect.stringContaining("resource claim shop/damaged: its file on the node") },
    };
    expect(await attach(own)).toMatchObject(refusal);
    // A pod that another one has replaced, and a claim that was removed by force, attach nothing.
    expect(await attach({ ...own, uid: "another" })).toMatchObject({ fault: { kind: "POD_NOT_FOUND" } });
    expect(await attach(await podWith("absent"))).toMatchObject({ fault: { kind: "CLAIM_UNUSABLE" } });
    // The kubelet prepares the claim again: its file is whole.
    await call("NodePrepareResources", { claims: [damaged] });
    asked.length = 0;
    expect(await attach(own)).toEqual({ ok: true, value: [] });
    expect(asked.some((path) => path.includes("/pods/"))).toBe(false);
    await call("NodeUnprepareResources", { claims: [damaged, whole] });
    expect(files()).toEqual([]);
  });

  test("DR-06: a claim that is reserved for a PodGroup is that of the pods that name it, and of no other pod", async () => {
    const claim = await allocated("grouped", "node-a");
    const path = `${claimsPath}/grouped`;
    const read = await admin.get(path);
    if (read.kind !== "object") throw new Error(read.why);
    const { object } = read;
    const status = object["status"] as object;
    const reservedFor = [{ apiGroup: "scheduling.k8s.io", resource: "podgroups", name: "workers", uid: "group-1" }];
    expect(outcome(await admin.replace(`${path}/status`, { ...object, status: { ...status, reservedFor } }))).toMatchObject({
      status: { reservedFor },
    });
    await call("NodePrepareResources", { claims: [claim] });
    const own = await podWith("grouped");
    expect(await attached(own)).toMatchObject({ value: [{ claim: { name: "grouped", uid: claim.uid } }] });
    expect(await attached({ ...own, uid: "another" })).toEqual({ ok: true, value: [] });
    expect(await attached(await podWith())).toEqual({ ok: true, value: [] });
    await call("NodeUnprepareResources", { claims: [claim] });
  });

  test("the examples of the page are objects of the API, and their configurations are read", async () => {
    const page = readFileSync(join(root, "docs/how-to/networks-as-claims.md"), "utf8");
    const documents = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap(([, text = ""]) =>
      parseAllDocuments(text).map((each) => each.toJS() as Example),
    );
    const [values, ...objects] = documents;
    expect(readDeviceSettings(JSON.stringify({ devices: values?.claims?.devices }))).toMatchObject({ ok: true });
    expect(objects.map(({ kind }) => kind)).toEqual(
      "DeviceClass ResourceClaimTemplate Pod ResourceClaimTemplate ResourceClaimTemplate ResourceClaimTemplate DeviceClass ClusterRole".split(
        " ",
      ),
    );
    for (const object of objects) {
      const path = object.kind === "DeviceClass" ? "/apis/resource.k8s.io/v1/deviceclasses" : collectionOf(object as never);
      const spec = object.kind === "Pod" ? { ...object.spec, automountServiceAccountToken: false } : object.spec;
      expect(outcome(await admin.create(`${path}?dryRun=All`, { ...object, spec }))).toMatchObject({ kind: object.kind });
      const configs = object.spec?.config ?? object.spec?.spec?.devices?.config ?? [];
      for (const { opaque } of configs) expect(readNetworkParameters(opaque.parameters, "shop")).toMatchObject({ ok: true });
    }
  });

  test("DR-12: the author of a claim needs the verb use for its class and its definition", async () => {
    const claimRule = {
      apiGroups: ["resource.k8s.io"],
      resources: ["resourceclaims", "resourceclaimtemplates"],
      verbs: ["create"],
    };
    await admin.create(`${rights}/clusterroles`, role("author", [claimRule]));
    await admin.create(
      `${rights}/clusterrolebindings`,
      bindingOf("author", { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "author" }),
    );
    const author = objectsOf(api.kubeconfig("author"));
    const spec = {
      devices: {
        requests: [{ name: "net", firstAvailable: [{ name: "first", deviceClassName: "links" }] }],
        config: [{ opaque: { driver: "plexus.dev", parameters } }],
      },
    };
    const template = { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaimTemplate", metadata: { name: "t" }, spec: { spec } };
    const path = "/apis/resource.k8s.io/v1/namespaces/shop/resourceclaimtemplates?dryRun=All";
    const tried = async (): Promise<unknown> => outcome(await author.create(path, template));
    await vi.waitFor(async () => expect(await tried()).toContain("needs the verb use for each DeviceClass: links"), {
      timeout: 60_000,
    });
    const classRule = { apiGroups: ["resource.k8s.io"], resources: ["deviceclasses"], resourceNames: ["links"], verbs: ["use"] };
    await admin.patch(`${rights}/clusterroles/author`, { rules: [claimRule, classRule] });
    await vi.waitFor(
      async () => expect(await tried()).toContain("needs the verb use for each NetworkAttachmentDefinition: shop/blue"),
      {
        timeout: 60_000,
      },
    );
    const definitionRule = { apiGroups: ["k8s.cni.cncf.io"], resources: ["network-attachment-definitions"], verbs: ["use"] };
    await admin.patch(`${rights}/clusterroles/author`, { rules: [claimRule, classRule, definitionRule] });
    await vi.waitFor(async () => expect(await tried()).toMatchObject({ kind: "ResourceClaimTemplate" }), { timeout: 60_000 });
    // PodNetworks of the claim, pools, and the networks whose policies hold for a list.
    const triedWith = async (...networks: readonly object[]): Promise<unknown> => {
      const config = networks.map((each) => ({
        opaque: { driver: "plexus.dev", parameters: { apiVersion: "plexus.dev/v1alpha1", kind: "Network", ...each } },
      }));
      return outcome(
        await author.create(path, { ...template, spec: { spec: { devices: { requests: spec.devices.requests, config } } } }),
      );
    };
    const lists = { list: { plugins: [] } };
    expect(await triedWith({ podNetwork: "blue" })).toContain("you may not use one of the PodNetworks blue");
    expect(await triedWith({ ...lists, policies: "podnetwork/green" })).toContain("one of the PodNetworks green");
    const podNetworkRule = { apiGroups: ["plexus.dev"], resources: ["podnetworks"], verbs: ["use"] };
    const ruleFor = (resourceNames: readonly string[]): object => ({ ...definitionRule, resourceNames });
    await admin.patch(`${rights}/clusterroles/author`, { rules: [claimRule, classRule, ruleFor(["blue"]), podNetworkRule] });
    const pooled = async (): Promise<unknown> => triedWith({ podNetwork: "blue", pool: "storage" });
    await vi.waitFor(async () => expect(await pooled()).toContain("needs the verb use for each AddressPool: storage"), {
      timeout: 60_000,
    });
    expect(await triedWith({ ...lists, policies: "podnetwork/green" })).toMatchObject({ kind: "ResourceClaimTemplate" });
    expect(await triedWith({ ...lists, policies: "red" })).toContain("each NetworkAttachmentDefinition: shop/red");
    // More checks than Kubernetes' cost limit allows in one expression.
    const many = ["a", "b", "c", "d", "e", "f", "g", "h"].map((podNetwork) => ({ podNetwork }));
    expect(await triedWith(...many)).toMatchObject({ kind: "ResourceClaimTemplate" });
  });

  test("DR-12: a pod that asks for a class by an extended resource needs the verb use, of its author or its service account", async () => {
    const podRule = { apiGroups: [""], resources: ["pods"], verbs: ["create"] };
    await admin.create(`${rights}/clusterroles`, role("pods", [podRule]));
    await admin.create(
      `${rights}/clusterrolebindings`,
      bindingOf("pods", { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "tenant" }),
    );
    const tenant = objectsOf(api.kubeconfig("tenant"));
    const limits = { "deviceclass.resource.kubernetes.io/uplinks": "1" };
    const tried = async (of: object): Promise<unknown> =>
      outcome(await tenant.create("/api/v1/namespaces/shop/pods?dryRun=All", of as Readonly<Record<string, unknown>>));
    await vi.waitFor(async () => expect(await tried(askingPod("containers", {}))).toMatchObject({ kind: "Pod" }), {
      timeout: 60_000,
    });
    for (const where of ["containers", "initContainers"] as const)
      expect(await tried(askingPod(where, { limits }))).toContain("needs the verb use for each DeviceClass: uplinks");
    const classRule = {
      apiGroups: ["resource.k8s.io"],
      resources: ["deviceclasses"],
      resourceNames: ["uplinks"],
      verbs: ["use"],
    };
    await admin.create(`${rights}/clusterroles`, role("uplinks", [classRule]));
    await admin.create(
      `${rights}/clusterrolebindings`,
      bindingOf("uplinks", { kind: "ServiceAccount", namespace: "shop", name: "default" }),
    );
    await vi.waitFor(async () => expect(await tried(askingPod("containers", { limits }))).toMatchObject({ kind: "Pod" }), {
      timeout: 60_000,
    });
  });
});
