// A whole ADD and DEL of a prepared claim while the API server is away: the runtime makes the pod's sandbox anew meanwhile. A client of gRPC's own library plays
// the kubelet; daemon, shim and plugins are the real ones.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { claimDirectory } from "../../features/claims/node/claim-store.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { objectsOf } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { type FaultProxy, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { type KubeletClient, kubeletClient, type NamedClaim } from "../lab/kube/kubelet-client.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { createPodNamespace, inHost, type PodNamespace } from "../lab/namespaces.ts";
import { type Answer, type Installation, installPlexus, missingBuild } from "../lab/plexus.ts";
import { missing, privateNamespaces, referencePlugins } from "../lab/requires.ts";
import { allowAll } from "../lab/kube/allow-all.ts";

const collection = "/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims";
const node = "node-away";
// sysfs shows the machine's links. The plugin bridge makes a bridge with the link's name in the test's namespace, which lacks that link.
const link = readdirSync("/sys/class/net").find((name) => name !== "lo");
const hasLink = (): string | undefined => (link === undefined ? "sysfs shows no link but lo" : undefined);
const native = ["bridge", "host-local"];
const verbs = ["get", "list", "create", "update", "patch", "delete"];
const requests = ["resourceclaims", "resourceclaims/status", "resourceslices", "nodes", "clusterrolebindings"].flatMap((each) =>
  verbs.map((verb) => `${verb} ${each}`),
);
const soon = { timeout: 60_000, interval: 200 };
const ranges = (third: number): object => ({ type: "host-local", ranges: [[{ subnet: `10.87.${third}.0/24` }]] });

const skip = missing(
  "claims while the API is away",
  privateNamespaces,
  kubeApi,
  referencePlugins(...native),
  missingBuild,
  hasLink,
);
describe.skipIf(skip)("a prepared claim while the API server is away", () => {
  let api: ApiServer;
  let admin: ApiObjects;
  let proxy: FaultProxy;
  let plexus: Installation;
  let daemon: TestDaemon;
  let kubelet: KubeletClient;
  let claim: NamedClaim;
  let pod: { readonly uid: string; readonly args: string };
  let netns: PodNamespace;
  let kubeconfig: string;

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: requests });
    admin = objectsOf(api.adminKubeconfig);
    await api.namespace("shop");
    await allowAll(admin);
    proxy = await startFaultProxy(api);
    kubeconfig = await proxy.kubeconfig();
    plexus = installPlexus({ native });
    const registry = join(plexus.directory, "registry");
    mkdirSync(registry);
    const devices = join(plexus.directory, "claims.json");
    writeFileSync(devices, JSON.stringify({ devices: [{ name: "nic", match: { name: link }, shared: { attachments: 9 } }] }));
    daemon = await startDaemon({
      socket: join(plexus.directory, "daemon", "plexus.sock"),
      args: [
        "--kubeconfig",
        kubeconfig,
        "--node-name",
        node,
        "--state-dir",
        plexus.state("lib"),
        "--claims-devices",
        devices,
        "--claims-kubelet-dir",
        registry,
      ],
    });
    kubelet = kubeletClient(join(registry, "plexus.dev-reg.sock"));
    pod = await api.pod("shop", "away");
    claim = await allocated();
    netns = createPodNamespace("away");
  }, 120_000);
  afterAll(async () => {
    kubelet?.close();
    await daemon?.stop();
    netns?.dispose();
    plexus?.dispose();
    inHost(["sh", "-c", `ip link delete ${link}; ip link delete br-pods; true`]);
    admin?.close();
    await proxy?.dispose();
    await api?.dispose();
  });

  /** A claim as the scheduler leaves it. */
  async function allocated(): Promise<NamedClaim> {
    const spec = { devices: { requests: [{ name: "net", exactly: { deviceClassName: "links" } }] } };
    const object = { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata: { name: "away" }, spec };
    const created = await admin.create(collection, object);
    if (created.kind !== "object") throw new Error(created.why);
    const list = { cniVersion: "1.0.0", name: "claimed", plugins: [{ type: "bridge", ipam: ranges(1) }] };
    const parameters = { apiVersion: "plexus.dev/v1alpha1", kind: "Network", list };
    const results = [{ request: "net", driver: "plexus.dev", pool: node, device: `nic-${link}` }];
    const config = [{ source: "FromClass", opaque: { driver: "plexus.dev", parameters } }];
    const reservedFor = [{ resource: "pods", name: "away", uid: pod.uid }];
    const status = { allocation: { devices: { results, config } }, reservedFor };
    const changed = await admin.replace(`${collection}/away/status`, { ...created.object, status });
    if (changed.kind !== "object") throw new Error(changed.why);
    return { namespace: "shop", name: "away", uid: (created.object["metadata"] as { readonly uid: string }).uid };
  }

  const call = (verb: "ADD" | "DEL", containerId: string): Promise<Answer> =>
    plexus.call({
      verb,
      containerId,
      netns: netns.path,
      ifname: "eth0",
      args: pod.args,
      env: { PLEXUS_SOCKET: daemon.socket },
      config: {
        cniVersion: "1.0.0",
        name: "away",
        type: "plexus",
        cniDir: plexus.state("lib"),
        runDir: plexus.runState("run"),
        kubeconfig,
        kubernetes: { budgetMs: 2_000 },
        claims: true,
        delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type: "bridge", bridge: "br-pods", ipam: ranges(0) }] }],
      },
    });
  const links = (): readonly string[] => netns.links().map(({ name }) => name);
  const files = (): readonly string[] => readdirSync(claimDirectory(plexus.state("lib")));
  const away = (): void => {
    proxy.script(() => ({ reset: true }));
    proxy.cut();
  };
  const back = (): void => proxy.script(() => undefined);
  const reported = async (): Promise<unknown> => {
    const answer = await admin.get(`${collection}/away`);
    const { status } = { status: {}, ...(answer.kind === "object" ? answer.object : {}) };
    return "devices" in (status ?? {}) ? (status as { readonly devices: unknown }).devices : [];
  };
  const ready = { driver: "plexus.dev", conditions: [{ type: "Ready", status: "True" }] };

  test("DR-11: the sandbox that a runtime makes anew has no half-made claim: its ADD is refused until the API is back, and then needs no Prepare", async () => {
    expect(await kubelet.call("NodePrepareResources", { claims: [claim] })).toMatchObject({
      claims: { [claim.uid]: { devices: [{ deviceName: `nic-${link}` }] } },
    });
    expect((await call("ADD", "first")).stdout).toContain("10.87.0.");
    expect(links()).toEqual(["eth0", "net1"]);
    await vi.waitFor(async () => expect(await reported()).toMatchObject([ready]), soon);

    away();
    // The runtime ends the sandbox: the DEL needs no API.
    expect((await call("DEL", "first")).status).toBe(0);
    expect(links()).toEqual([]);
    expect(files()).toHaveLength(1);
    // The new sandbox: the pod's annotation is not known, so nothing is attached, and the runtime tries again.
    const refused = await call("ADD", "second");
    expect([refused.status, refused.json]).toMatchObject([
      1,
      { code: 11, msg: expect.stringContaining("GET /api/v1/namespaces/shop/pods/away") },
    ]);
    expect(links()).toEqual([]);
    expect((await call("DEL", "second")).status).toBe(0);

    back();
    await vi.waitFor(async () => expect((await call("ADD", "third")).status).toBe(0), soon);
    expect(links()).toEqual(["eth0", "net1"]);
    await vi.waitFor(async () => {
      const ips = [expect.stringMatching(/^10\.87\.1\./u)];
      expect(await reported()).toMatchObject([{ ...ready, networkData: { interfaceName: "net1", ips } }]);
    }, soon);

    away();
    expect((await call("DEL", "third")).status).toBe(0);
    expect(await kubelet.call("NodeUnprepareResources", { claims: [claim] })).toMatchObject({ claims: { [claim.uid]: {} } });
    expect([links(), files()]).toEqual([[], []]);
    back();
    await vi.waitFor(async () => expect(await reported()).toEqual([]), soon);
  }, 300_000);
});
