// Networks as claims on a real cluster: the scheduler allocates the node's shared links, the kubelet has Plexus' driver prepare them, and the ADD attaches
// what the claims ask for.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Cluster } from "../lab/cluster/cluster.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { toolsImage } from "../lab/cluster/images.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { helm } from "../lab/kube/helm.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("networks as claims on a cluster", helm, () => missingBuild());
const api = "resource.k8s.io/v1";
const patient = { timeout: 120_000, interval: 500 };

/** The node's devices: a bridge for three attachments, and a network that only a class names. */
const devices = [
  { name: "shared", match: { name: "br-claims" }, shared: { attachments: 3, bandwidth: "10G" }, networks: ["blue-net"] },
];
const list = {
  cniVersion: "1.0.0",
  name: "claimed",
  plugins: [{ type: "bridge", ipam: { type: "host-local", ranges: [[{ subnet: "10.88.0.0/24" }]] } }],
};
const opaque = (parameters: object): object => ({
  opaque: { driver: "plexus.dev", parameters: { apiVersion: "plexus.dev/v1alpha1", kind: "Network", ...parameters } },
});
const className = "shared-links";
/** Selects the devices that reach a PodNetwork. */
const reaches = (network: string): string =>
  `device.driver == "plexus.dev" && "${network}_net" in device.attributes["networks.plexus.dev"]`;

function template(name: string, deviceClassName: string, config: readonly object[] = []): object {
  return {
    apiVersion: api,
    kind: "ResourceClaimTemplate",
    metadata: { name, namespace: "default" },
    spec: { spec: { devices: { requests: [{ name: "net", exactly: { deviceClassName } }], config } } },
  };
}

const pod = (name: string, templateName: string, more: object = {}): object =>
  toolsPod(name, {
    spec: {
      resourceClaims: [{ name: "net", resourceClaimTemplateName: templateName }],
      terminationGracePeriodSeconds: 1,
      ...more,
    },
  });

const labelled = (name: string): object => {
  const made = pod(name, "one") as { readonly metadata: object };
  return { ...made, metadata: { ...made.metadata, labels: { drained: "yes" } } };
};

const container = (name: string, resources: object): object => ({
  name,
  image: toolsImage,
  imagePullPolicy: "Never",
  resources,
});

interface Claim {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly reservedFor?: readonly object[];
    readonly devices?: readonly { readonly networkData?: object; readonly conditions?: readonly object[] }[];
  };
}

describe.skipIf(skip)("networks as claims with the chart on a real cluster", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  beforeAll(async () => {
    const claims = `claims=${JSON.stringify({ enabled: true, devices })}`;
    cluster = await clusterWithPlexus("--set-json", claims, "--set", "networks.enabled=true,linkWatch.enabled=true");
    [node] = cluster.nodes;
    node.exec(["ip", "link", "add", "br-claims", "type", "bridge"]);
    node.exec(["ip", "link", "set", "br-claims", "up"]);
    await cluster.apply(
      {
        apiVersion: api,
        kind: "DeviceClass",
        metadata: { name: className },
        spec: {
          selectors: [
            { cel: { expression: `device.driver == "plexus.dev" && device.attributes["plexus.dev"].kind == "bridge"` } },
          ],
          config: [opaque({ list })],
        },
      },
      ...["blue", "green"].map((network) => ({
        apiVersion: api,
        kind: "DeviceClass",
        metadata: { name: network },
        spec: { selectors: [{ cel: { expression: reaches(network) } }], config: [opaque({ list })] },
      })),
      template("blue", "blue"),
      template("green", "green"),
      template("one", className),
      template("named", className, [opaque({ interface: "storage0", ips: ["10.88.0.77"] })]),
    );
    const published = async (): Promise<void> => {
      if ((await slices()).length !== 1) throw new Error(`the node has no slice: ${await explained(cluster)}`);
    };
    await vi.waitFor(published, patient);
  }, 400_000);
  afterAll(async () => {
    if (cluster === undefined) return;
    await cluster.kubectl("delete", "pods,resourceclaims,resourceclaimtemplates", "--all", "--timeout=120s");
    await cluster.kubectl("delete", "deviceclasses", "--all");
    const crds = ["podnetworks.plexus.dev", "podnetworkattachments.plexus.dev"];
    await cluster.kubectl("delete", "crd", ...crds, "--wait", "--timeout=120s");
    const off = `claims=${JSON.stringify({ enabled: false, devices: [] })}`;
    await deployPlexus(cluster, "upgrade", "v1", "--set-json", off, "--set", "networks.enabled=false,linkWatch.enabled=false");
    node.exec(["ip", "link", "delete", "br-claims"]);
    await cluster.kubectl("delete", "resourceslices", "--all");
    await cluster.stop();
  }, 300_000);

  const items = async <T>(...args: readonly string[]): Promise<readonly T[]> =>
    (JSON.parse(await cluster.succeed("get", ...args, "-o", "json")) as { readonly items: readonly T[] }).items;
  const slices = (): Promise<readonly { readonly spec: { readonly devices: readonly object[]; readonly pool: object } }[]> =>
    items("resourceslices");
  const claims = (): Promise<readonly Claim[]> => items<Claim>("resourceclaims");
  const prepared = (): readonly string[] => {
    try {
      return readdirSync(join(node.disk, "var/lib/cni/plexus/claims")).filter((name) => name.endsWith(".json"));
    } catch {
      return [];
    }
  };
  const ready = async (...names: readonly string[]): Promise<void> => {
    const pods = names.map((name) => `pod/${name}`);
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", ...pods).catch(async (error: unknown) => {
      const objects = await cluster.succeed("get", "pods,resourceclaims,resourceslices", "-o", "yaml");
      throw new Error(`${String(error)}\n${objects.slice(0, 20_000)}\n${await explained(cluster)}`, { cause: error });
    });
  };
  const gone = async (...names: readonly string[]): Promise<void> => {
    await cluster.succeed("delete", "pod", ...names, "--timeout=120s");
    await vi.waitFor(async () => expect([await claims(), prepared()]).toEqual([[], []]), patient);
  };
  const condition = async (): Promise<unknown> => (await claims())[0]?.status?.devices?.[0]?.conditions;
  const phases = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      (await items<{ readonly metadata: { readonly name: string }; readonly status: { readonly phase: string } }>("pods")).map(
        (each) => [each.metadata.name, each.status.phase],
      ),
    );
  const taints = async (): Promise<unknown> =>
    (await slices())[0]?.spec.devices.map((each) => ("taints" in each ? each.taints : []));
  const schedulingOf = (name: string): Promise<string> =>
    cluster.succeed("get", "pod", name, "-o", "jsonpath={.status.conditions[?(@.type=='PodScheduled')].message}");
  const addresses = (name: string, link: string): Promise<string> =>
    cluster.succeed("exec", name, "--", "ip", "-4", "-o", "address", "show", "dev", link);

  test("DR-02: the node's slice has the shared link with its capacities and networks", async () => {
    const [slice] = await slices();
    expect(slice?.spec).toMatchObject({
      driver: "plexus.dev",
      nodeName: node.name,
      pool: { name: node.name, resourceSliceCount: 1 },
      devices: [
        {
          name: "shared-br-claims",
          allowMultipleAllocations: true,
          attributes: { kind: { string: "bridge" }, up: { bool: true }, "networks.plexus.dev/blue_net": { bool: true } },
          capacity: { attachments: { value: "3" }, bandwidth: { value: "10G" } },
        },
      ],
    });
  });

  test("DR-06, DR-07: the ADD attaches a claim's network, two containers share it, and the claim has the interface", async () => {
    const containers = [container("main", { claims: [{ name: "net" }] }), container("second", { claims: [{ name: "net" }] })];
    await cluster.apply(pod("both", "named", { containers }));
    await ready("both");
    expect(await addresses("both", "storage0")).toContain("10.88.0.77/24");
    expect(await cluster.succeed("exec", "both", "-c", "second", "--", "ip", "-4", "-o", "address")).toContain("10.88.0.77/24");
    await vi.waitFor(async () => {
      const [claim] = await claims();
      expect(claim?.status?.devices).toMatchObject([
        {
          driver: "plexus.dev",
          conditions: [{ type: "Ready", status: "True" }],
          networkData: {
            interfaceName: "storage0",
            ips: ["10.88.0.77/24"],
            hardwareAddress: expect.stringMatching(/^[0-9a-f:]{17}$/),
          },
        },
      ]);
    }, patient);
    const status = await cluster.succeed("get", "pod", "both", "-o", "jsonpath={.metadata.annotations}");
    expect(status).toContain("storage0");
    await gone("both");
  }, 300_000);

  test("DR-03: of four pods that want a link with capacity for three, one stays Pending until another has gone", async () => {
    const names = ["p1", "p2", "p3", "p4"];
    await cluster.apply(...names.map((name) => pod(name, "one")));
    await vi.waitFor(
      async () => expect(Object.values(await phases()).toSorted()).toEqual(["Pending", "Running", "Running", "Running"]),
      patient,
    );
    const pending = Object.entries(await phases()).find(([, phase]) => phase === "Pending")?.[0] ?? "";
    const reason = await cluster.succeed(
      "get",
      "pod",
      pending,
      "-o",
      "jsonpath={.status.conditions[?(@.type=='PodScheduled')].message}",
    );
    expect(reason).toContain("cannot allocate all claims");
    const [first = ""] = names.filter((name) => name !== pending);
    await cluster.succeed("delete", "pod", first, "--timeout=120s");
    await ready(pending);
    await gone(...names.filter((name) => name !== first));
  }, 400_000);

  test("DR-09: a pod whose class asks for a PodNetwork is scheduled only where a device reaches the network", async () => {
    await cluster.apply(pod("to-blue", "blue"), pod("to-green", "green"));
    await ready("to-blue");
    await vi.waitFor(async () => expect(await schedulingOf("to-green")).toContain("cannot allocate all claims"), patient);
    await gone("to-blue", "to-green");
  }, 300_000);

  test("DR-09, DR-13: a PodNetwork names its devices, a claim names the PodNetwork, and the pod waits until a device reaches it", async () => {
    const definition = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };
    const ref = { group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", name: "violet", namespace: "default" };
    const requests = [{ name: "net", exactly: { deviceClassName: "violet" } }];
    const selector = `device.driver == "plexus.dev" && "violet" in device.attributes["networks.plexus.dev"]`;
    await cluster.apply(
      { ...definition, metadata: { name: "violet", namespace: "default" }, spec: { config: JSON.stringify(list) } },
      networkObjects.podNetwork("violet", { parametersRefs: [ref] }),
      {
        apiVersion: api,
        kind: "DeviceClass",
        metadata: { name: "violet" },
        spec: { selectors: [{ cel: { expression: selector } }] },
      },
      {
        apiVersion: api,
        kind: "ResourceClaimTemplate",
        metadata: { name: "violet", namespace: "default" },
        spec: { spec: { devices: { requests, config: [opaque({ podNetwork: "violet", interface: "violet0" })] } } },
      },
      pod("to-violet", "violet"),
    );
    await vi.waitFor(async () => expect(await schedulingOf("to-violet")).toContain("cannot allocate all claims"), patient);
    const named = '{"spec":{"devices":["shared"]}}';
    await cluster.succeed("patch", "podnetwork", "violet", "--type=merge", "-p", named);
    await ready("to-violet");
    expect(await addresses("to-violet", "violet0")).toContain("10.88.0.");
    const status = ["get", "pod", "to-violet", "-o", "jsonpath={.metadata.annotations.plexus\\.dev/network-status}"];
    expect(JSON.parse(await cluster.succeed(...status))).toMatchObject([
      { name: "default" },
      { name: "violet", interfaceName: "violet0" },
    ]);
    // The claim keeps the network (KE-13).
    await cluster.succeed("wait", "--for=jsonpath={.status.phase}=InUse", "--timeout=120s", "podnetwork/violet");
    await cluster.succeed("delete", "podnetwork", "violet", "--wait=false");
    expect(await cluster.succeed("get", "podnetwork", "violet", "-o", "jsonpath={.metadata.finalizers}")).toContain("in-use");
    await gone("to-violet");
    await cluster.succeed("wait", "--for=delete", "--timeout=120s", "podnetwork/violet");
  }, 400_000);

  test("DR-08: a link that is down has a taint, so that no pod is scheduled to it until it is back", async () => {
    node.exec(["ip", "link", "set", "br-claims", "down"]);
    await vi.waitFor(
      async () => expect(await taints()).toMatchObject([[{ key: "plexus.dev/link-down", effect: "NoSchedule" }]]),
      patient,
    );
    await cluster.apply(pod("later", "one"));
    await vi.waitFor(async () => {
      const reason = await cluster.succeed(
        "get",
        "pod",
        "later",
        "-o",
        "jsonpath={.status.conditions[?(@.type=='PodScheduled')].message}",
      );
      expect(reason).toContain("cannot allocate all claims");
    }, patient);
    node.exec(["ip", "link", "set", "br-claims", "up"]);
    await ready("later");
    await gone("later");
  }, 400_000);

  test("DR-07: the claim's status says that the pod's link is lost, and that it is back", async () => {
    await cluster.apply(pod("loses", "one"));
    await ready("loses");
    const [port = ""] = node.run(["ls", "/sys/class/net/br-claims/brif"]).stdout.trim().split("\n");
    await vi.waitFor(async () => expect(await condition()).toMatchObject([{ type: "Ready", status: "True" }]), patient);
    node.exec(["ip", "link", "set", port, "nomaster"]);
    const lost = { type: "Ready", status: "False", reason: "InterfaceLost", message: expect.stringContaining("br-claims") };
    await vi.waitFor(async () => expect(await condition()).toMatchObject([lost]), patient);
    node.exec(["ip", "link", "set", port, "master", "br-claims"]);
    await vi.waitFor(async () => expect(await condition()).toMatchObject([{ type: "Ready", status: "True" }]), patient);
    await gone("loses");
  }, 400_000);

  test("DR-11: a pod whose claim cannot be prepared has the reason in an Event, and never starts", async () => {
    const unusable = template("unusable", className, [opaque({ list: { plugins: [] } })]);
    await cluster.apply(unusable, pod("refused", "unusable"));
    const events = ["get", "events", "--field-selector", "involvedObject.name=refused", "-o", "jsonpath={.items[*].message}"];
    const why = 'it names a network for request "net", but its class names one already; remove it';
    await vi.waitFor(async () => expect(await cluster.succeed(...events)).toContain(why), patient);
    const statuses = "jsonpath={.status.phase} {.status.podIPs} {.status.containerStatuses[*].containerID}";
    expect((await cluster.succeed("get", "pod", "refused", "-o", statuses)).trim()).toBe("Pending");
    expect(prepared()).toEqual([]);
    await gone("refused");
  }, 300_000);

  test("DR-11: a drained node keeps no claim and no prepared file", async () => {
    await cluster.apply(labelled("d1"), labelled("d2"));
    await ready("d1", "d2");
    expect(prepared()).toHaveLength(2);
    await cluster.succeed("drain", node.name, "--pod-selector=drained=yes", "--force", "--timeout=120s");
    await vi.waitFor(async () => expect([await claims(), prepared()]).toEqual([[], []]), patient);
    expect(node.run(["ls", "/sys/class/net/br-claims/brif"]).stdout.trim()).toBe("");
    await cluster.succeed("uncordon", node.name);
  }, 300_000);

  test("DR-01, DR-11: the daemon and the kubelet restart between Prepare and DEL, a claim is removed by force, and nothing is left", async () => {
    await cluster.apply(pod("stays", "one"));
    await ready("stays");
    await node.kubelet.stop();
    await cluster.succeed("-n", "kube-system", "delete", "pod", "-l", "app.kubernetes.io/name=plexus", "--wait=false");
    await node.kubelet.start();
    await cluster.succeed("-n", "kube-system", "rollout", "status", "daemonset/plexus", "--timeout=120s");
    // A kubelet that starts removes the slices of its node.
    await vi.waitFor(async () => expect(await slices()).toHaveLength(1), patient);
    await cluster.apply(pod("new", "one"));
    await ready("new");
    const names = (await claims()).map(({ metadata }) => metadata.name);
    await cluster.succeed("delete", "resourceclaims", ...names, "--wait=false");
    for (const name of names)
      await cluster.succeed("patch", "resourceclaim", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}');
    await gone("stays", "new");
    expect(node.run(["ls", "/sys/class/net/br-claims/brif"]).stdout.trim()).toBe("");
  }, 400_000);
});
