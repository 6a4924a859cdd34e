// The examples of deploy/examples/claims on a real cluster, each as its file says, and a burst of pods with claims. No node here has a GPU or a virtual function:
// a driver of the test stands for the GPU's, and the test adds the PCI facts of two veths to the node's ResourceSlice.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { toolsImage } from "../lab/cluster/images.ts";
import { leftOn } from "../lab/cluster/left.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { toolsDeployment } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { type ResourceDriver, startResourceDriver } from "../lab/cluster/resource-driver.ts";
import { root } from "../lab/compiled.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../lab/recorder.ts";
import { referencePlugins } from "../lab/requires.ts";

const skip = missingCluster("examples of claims on a cluster", helm, referencePlugins("host-device"), () => missingBuild());
const api = "resource.k8s.io/v1";
const patient = { timeout: 240_000, interval: 500 };
/** Pods of the burst. 100 take some minutes on two processors. */
const burst = Number(process.env["PLEXUS_TEST_BURST"] ?? "30");
const directory = "deploy/examples/claims";
const bridges = ["br-storage", "br-tenants", "br-burst"];
const devices = [
  { name: "storage", match: { name: "br-storage" }, shared: { attachments: 100 } },
  { name: "tenants", match: { name: "br-tenants" }, shared: { attachments: 2 }, vlans: "100-199" },
  { name: "nic", match: { name: "nic*" }, exclusive: true },
  { name: "vf", match: { name: "vf*" }, exclusive: true, resourceName: "example.com/vf" },
  { name: "burst", match: { name: "br-burst" }, shared: { attachments: 200 } },
];
/** The facts of the fake hardware, by device. */
const pciFacts: Readonly<Record<string, object>> = {
  "nic-nic0": { "resource.kubernetes.io/pcieRoot": { string: "pci0000:16" } },
  "nic-nic1": { "resource.kubernetes.io/pcieRoot": { string: "pci0000:97" } },
  "vf-vf0": { "k8s.cni.cncf.io/deviceID": { string: "0000:18:02.1" } },
};

interface Slice {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly driver: string;
    readonly devices?: readonly { readonly name: string; readonly attributes: object }[];
  };
}

describe.skipIf(skip)("the examples of networks as claims", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  let gpus: ResourceDriver | undefined;
  let sriov: RecorderPlugin;
  /** Stands for `bridge` in the example of VLANs on a kernel without VLANs of bridges; undefined: the kernel has them. */
  let ovs: RecorderPlugin | undefined;
  beforeAll(async () => {
    const claims = `claims=${JSON.stringify({ enabled: true, devices })}`;
    cluster = await clusterWithPlexus("--set-json", claims, "--set", "dynamicResources.enabled=true");
    [node] = cluster.nodes;
    node.installPlugin("host-device");
    sriov = installRecorder(join(node.disk, "opt", "cni", "bin"), "sriov");
    for (const name of bridges) node.exec(["ip", "link", "add", name, "type", "bridge"]);
    const filters = node.run(["ip", "link", "set", "br-tenants", "type", "bridge", "vlan_filtering", "1"]);
    if (filters.status !== 0 || node.run(["bridge", "vlan", "add", "dev", "br-tenants", "vid", "150", "self"]).status !== 0)
      ovs = installRecorder(join(node.disk, "opt", "cni", "bin"), "ovs");
    for (const name of ["nic0", "nic1", "vf0"]) {
      node.exec(["ip", "link", "add", name, "type", "veth", "peer", "name", `peer-${name}`]);
      node.exec(["ip", "link", "set", `peer-${name}`, "up"]);
    }
    for (const name of [...bridges, "nic0", "nic1", "vf0"]) node.exec(["ip", "link", "set", name, "up"]);
    gpus = await startResourceDriver(node, "gpu.example.com");
    await cluster.apply({
      apiVersion: api,
      kind: "ResourceSlice",
      metadata: { name: "gpus" },
      spec: {
        driver: "gpu.example.com",
        nodeName: node.name,
        pool: { name: "gpus", generation: 1, resourceSliceCount: 1 },
        devices: [{ name: "gpu-0", attributes: { "resource.kubernetes.io/pcieRoot": { string: "pci0000:97" } } }],
      },
    });
  }, 400_000);
  afterAll(async () => {
    gpus?.stop();
    if (cluster === undefined) return;
    await cluster.kubectl("delete", "deployments,pods,resourceclaims,resourceclaimtemplates", "--all", "--timeout=120s");
    await cluster.kubectl("delete", "deviceclasses", "--all");
    const off = `claims=${JSON.stringify({ enabled: false, devices: [] })}`;
    await deployPlexus(cluster, "upgrade", "v1", "--set-json", off, "--set", "dynamicResources.enabled=false");
    for (const name of [...bridges, "nic0", "nic1", "vf0"]) node.run(["ip", "link", "delete", name]);
    await cluster.succeed("delete", "resourceslices", "--all");
    await cluster.stop();
  }, 400_000);

  const items = async <T>(...args: readonly string[]): Promise<readonly T[]> =>
    (JSON.parse(await cluster.succeed("get", ...args, "-o", "json")) as { readonly items: readonly T[] }).items;
  const applyExample = (name: string, change = (text: string): string => text): Promise<void> =>
    cluster.apply(
      change(readFileSync(join(root, directory, name), "utf8")).replaceAll(
        /image: "busybox:[^"]*", command: \[[^\]]*\]/g,
        `image: "${toolsImage}", imagePullPolicy: Never`,
      ),
    );
  const removeExample = async (name: string): Promise<void> => {
    await cluster.succeed("delete", "--ignore-not-found", "--timeout=180s", "-f", join(root, directory, name));
    await vi.waitFor(async () => expect([await items("resourceclaims"), prepared(), ports()]).toEqual([[], [], []]), patient);
  };
  const prepared = (): readonly string[] => {
    try {
      return readdirSync(join(node.disk, "var/lib/cni/plexus/claims")).filter((name) => name.endsWith(".json"));
    } catch {
      return [];
    }
  };
  /** Ports of the bridges that devices are. */
  const ports = (): readonly string[] =>
    bridges.flatMap((name) =>
      node
        .run(["ls", `/sys/class/net/${name}/brif`])
        .stdout.split("\n")
        .filter((each) => each !== ""),
    );
  const ready = async (name: string): Promise<void> => {
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=180s", `pod/${name}`).catch(async (error: unknown) => {
      const objects = await cluster.succeed("get", "pods,resourceclaims,resourceslices", "-o", "yaml");
      throw new Error(`${String(error)}\n${objects.slice(0, 20_000)}\n${await explained(cluster)}`, { cause: error });
    });
  };
  /** Adds the facts to the node's slice, once the daemon has written it. */
  const addFacts = (): Promise<void> =>
    vi.waitFor(async () => {
      const slice = (await items<Slice>("resourceslices")).find(({ spec }) => spec.driver === "plexus.dev");
      const offered = slice?.spec.devices ?? [];
      expect(offered.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(pciFacts)));
      const value = offered.map((each) => ({ ...each, attributes: { ...each.attributes, ...pciFacts[each.name] } }));
      const patch = JSON.stringify([{ op: "replace", path: "/spec/devices", value }]);
      await cluster.succeed("patch", "resourceslice", slice?.metadata.name ?? "", "--type=json", "-p", patch);
    }, patient);
  /** The VLANs of the pods' ports; by the stand-in's calls where the kernel has no VLANs of bridges. */
  const placements = (standIn: RecorderPlugin | undefined): readonly string[] => {
    if (standIn === undefined)
      return ports().map((port) => /(\d+) PVID/.exec(node.run(["bridge", "vlan", "show", "dev", port]).stdout)?.[1] ?? "");
    const adds = standIn.calls().filter(({ env }) => env["CNI_COMMAND"] === "ADD" && env["CNI_IFNAME"] === "tenant0");
    return adds.map(({ stdin }) => {
      const { bridge, vlan } = JSON.parse(stdin) as { readonly bridge?: unknown; readonly vlan?: unknown };
      return bridge === "br-tenants" ? String(vlan) : "";
    });
  };
  const phases = async (): Promise<readonly string[]> =>
    (await items<{ readonly status: { readonly phase: string } }>("pods", "-l", "app=tenants")).map(({ status }) => status.phase);
  const addresses = (name: string): Promise<string> => cluster.succeed("exec", name, "--", "ip", "-4", "-o", "address");

  test("DR-03: a pod gets the bridge for everyone by its class", async () => {
    await applyExample("bridge-for-everyone.yaml");
    await ready("on-storage");
    expect(await addresses("on-storage")).toContain("10.20.0.");
    expect(ports()).toHaveLength(1);
    await removeExample("bridge-for-everyone.yaml");
  }, 400_000);

  test("DR-03: two of three pods get a VLAN of a bridge with a capacity of two, and the third waits", async () => {
    await applyExample("vlans.yaml", (text) => (ovs === undefined ? text : text.replace('"type": "bridge"', '"type": "ovs"')));
    await vi.waitFor(async () => expect((await phases()).toSorted()).toEqual(["Pending", "Running", "Running"]), patient);
    expect(placements(ovs)).toEqual(Array.from({ length: 2 }, () => "150"));
    await removeExample("vlans.yaml");
  }, 400_000);

  test("DR-15: a network of the annotation gets the device of a claim without configuration, as KubeVirt asks for it", async () => {
    await addFacts();
    await applyExample("kubevirt.yaml");
    await ready("virt-launcher");
    const adds = sriov.calls().filter(({ env }) => env["CNI_COMMAND"] === "ADD");
    expect(adds.map(({ stdin }) => (JSON.parse(stdin) as { readonly deviceID?: unknown }).deviceID)).toEqual(["0000:18:02.1"]);
    await removeExample("kubevirt.yaml");
  }, 400_000);

  test("DR-02, DR-08: a pod gets the NIC of its GPU's root, which comes back to the node, administratively down, for the next pod", async () => {
    for (let time = 0; time < 2; time++) {
      await addFacts();
      await applyExample("gpu-and-nic.yaml");
      await ready("trainer");
      expect(await cluster.succeed("exec", "trainer", "--", "ip", "-o", "link")).toContain("rdma0");
      const left = node.links().map(({ name }) => name);
      expect([left.includes("nic0"), left.includes("nic1")]).toEqual([true, false]);
      await removeExample("gpu-and-nic.yaml");
      await vi.waitFor(() => expect(node.links()).toContainEqual(expect.objectContaining({ name: "nic1", up: false })), patient);
    }
  }, 800_000);

  test(`DR-11: of ${burst} pods with claims at once each gets its network, and after them no claim, file, link or address is left`, async () => {
    const list = {
      cniVersion: "1.0.0",
      name: "burst",
      plugins: [{ type: "bridge", ipam: { type: "host-local", ranges: [[{ subnet: "10.40.0.0/24" }]] } }],
    };
    const parameters = { apiVersion: "plexus.dev/v1alpha1", kind: "Network", list, interface: "burst0" };
    const selectors = [
      { cel: { expression: `device.driver == "plexus.dev" && device.attributes["plexus.dev"].link == "br-burst"` } },
    ];
    const requests = [{ name: "net", exactly: { deviceClassName: "burst" } }];
    await cluster.apply(
      {
        apiVersion: api,
        kind: "DeviceClass",
        metadata: { name: "burst" },
        spec: { selectors, config: [{ opaque: { driver: "plexus.dev", parameters } }] },
      },
      {
        apiVersion: api,
        kind: "ResourceClaimTemplate",
        metadata: { name: "burst", namespace: "default" },
        spec: { spec: { devices: { requests } } },
      },
    );
    const before = leftOn(node);
    expect([before.leases, before.state]).toEqual([[], []]);
    const began = performance.now();
    await cluster.apply(
      toolsDeployment("burst", burst, {
        spec: { resourceClaims: [{ name: "net", resourceClaimTemplateName: "burst" }], terminationGracePeriodSeconds: 1 },
      }),
    );
    await cluster.succeed("wait", "--for=condition=Available", "--timeout=540s", "deployment/burst");
    const started = performance.now() - began;
    interface Claim {
      readonly status: { readonly devices?: readonly { readonly networkData?: { readonly ips?: readonly string[] } }[] };
    }
    // Reports follow their ADD.
    const ips = await vi.waitFor(async () => {
      const all = (await items<Claim>("resourceclaims")).flatMap(({ status }) => status.devices?.[0]?.networkData?.ips ?? []);
      expect(all).toHaveLength(burst);
      return all;
    }, patient);
    expect([new Set(ips).size, prepared().length, ports().length]).toEqual([burst, burst, burst]);
    const deleting = performance.now();
    await cluster.succeed("delete", "deployment/burst", "--cascade=foreground", "--timeout=540s");
    await vi.waitFor(
      async () => expect([await items("resourceclaims"), prepared(), ports(), leftOn(node)]).toEqual([[], [], [], before]),
      patient,
    );
    const seconds = [started, performance.now() - deleting].map((ms) => `${(ms / 1000).toFixed(0)} s`);
    process.stdout.write(`${burst} pods with claims: ready after ${seconds[0]}, gone after ${seconds[1]}\n`);
  }, 1_500_000);
});
