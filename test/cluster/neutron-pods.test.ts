// Pods of a real kubelet on ports of a real Neutron and OVN: the chart with the values and the definition of docs/how-to/external-ports.md.

import { mkdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { eventsOf, statusAnnotation } from "../lab/cluster/fault-pods.ts";
import { type LeftOnNode, leftOn } from "../lab/cluster/left.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { apiAddress } from "../lab/kube/address.ts";
import { helm } from "../lab/kube/helm.ts";
import { type FaultProxy, startFaultProxy } from "../lab/neutron/fault-proxy.ts";
import { type Neutron, type NeutronObject, startNeutron } from "../lab/neutron/neutron.ts";
import { missingNeutron } from "../lab/neutron/packages.ts";
import { pageBlock } from "../lab/page-block.ts";
import { missingBuild } from "../lab/plexus.ts";

const page = "external-ports.md";
const secret = "the secret of the test";
const skip = missingCluster("pods on ports of Neutron", helm, missingNeutron, () =>
  missingBuild({ components: ["external-port"] }),
);

/** A pod that selects the page's definition. */
function portedPod(name: string): object {
  const annotations = { "k8s.v1.cni.cncf.io/networks": "networks/backend" };
  return toolsPod(name, { annotations, spec: { terminationGracePeriodSeconds: 1 } });
}

/** The entry of a pod's network status for the page's definition. */
interface Attached {
  readonly interface: string;
  readonly ips: readonly string[];
  readonly mac: string;
}

describe.skipIf(skip)("pods of the chart's cluster on ports of Neutron", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  let neutron: Neutron;
  let proxy: FaultProxy;
  let subnet: string;
  /** The node without pods on ports. */
  let before: LeftOnNode;

  const ownPorts = async (): Promise<readonly NeutronObject[]> =>
    (await neutron.request("GET", "/ports?tags=plexus-owner:cluster-a")).ports;
  const plugged = (): readonly string[] => neutron.vsctl("list-ports", "br-int").split("\n").filter(Boolean);
  const externalPorts = (output: string): Promise<string> => cluster.succeed("get", "externalports", "-o", output);
  const interfaceId = (link: string): string =>
    neutron.vsctl("get", "interface", link, "external_ids:iface-id").replaceAll('"', "");
  const pings = async (from: string, { ips: [address = ""] }: Attached): Promise<boolean> =>
    (await cluster.kubectl("exec", from, "--", "ping", "-c", "1", "-W", "2", address)).status === 0;
  const setQuota = async (port: number): Promise<void> => {
    await neutron.request("PUT", "/quotas/fake_project_id", { quota: { port } });
  };
  const ready = async (...names: readonly string[]): Promise<void> => {
    const pods = names.map((name) => `pod/${name}`);
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", ...pods).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    });
  };
  const attached = async (name: string): Promise<Attached> => {
    const { metadata } = await cluster.core.readNamespacedPod({ namespace: "default", name });
    const [, backend, ...others] = JSON.parse(metadata?.annotations?.[statusAnnotation] ?? "[]");
    expect([backend?.name, others]).toEqual(["networks/backend", []]);
    return backend;
  };
  /** The values and objects of a block of the page, with this fabric's addresses and IDs. */
  const ofPage = (containing: string) =>
    parse(
      pageBlock(page, "yaml", containing)
        .replace("https://network.example:9696", proxy.url)
        .replace("https://identity.example:5000", proxy.url)
        .replaceAll("0f3c2a1e-5d7b-4c59-9a53-7d1c6f0f7a10", subnet),
    );

  beforeAll(async () => {
    cluster = await clusterWithPlexus();
    [node] = cluster.nodes;
    mkdirSync(node.on("/run/openvswitch"), { recursive: true });
    const host = { netns: node.on("/proc/1/ns/net"), ovsSocket: node.on("/run/openvswitch/db.sock") };
    neutron = await startNeutron({ name: node.name, ...host });
    const tls = cluster.authority.issue("openstack", { commonName: "openstack", alternativeNames: [`IP:${apiAddress}`] });
    proxy = await startFaultProxy(neutron.url, { secret, address: apiAddress, tls });
    const network = (await neutron.request("POST", "/networks", { network: { name: "pods" } })).network.id;
    const body = { network_id: network, ip_version: 4, cidr: "10.9.0.0/24", enable_dhcp: false };
    subnet = (await neutron.request("POST", "/subnets", { subnet: body })).subnet.id;
    await cluster.succeed("-n", "kube-system", "create", "secret", "generic", "openstack", `--from-literal=secret=${secret}`);
    const { wasm, definitions, externalPorts: onNodes } = ofPage("ovs:");
    const { externalPorts: fabric } = ofPage("secretName");
    const authority = readFileSync(cluster.authority.certificate, "utf8");
    const values = {
      wasm,
      definitions,
      externalPorts: { ...fabric, ...onNodes, authority, kuryr: { annotation: true } },
      // An ADD without a port fails soon, so that the kubelet tries the pod again soon.
      config: { kubernetes: { budgetMs: 5_000 } },
    };
    const set = Object.entries(values).flatMap(([key, value]) => ["--set-json", `${key}=${JSON.stringify(value)}`]);
    await deployPlexus(cluster, "upgrade", "v1", ...set);
    await cluster.succeed("create", "namespace", "networks");
    await cluster.apply(ofPage("kind: NetworkAttachmentDefinition"));
    before = leftOn(node);
  }, 600_000);
  afterAll(async () => {
    if (cluster === undefined) return;
    await cluster.kubectl("delete", "pods", "--all", "--timeout=120s");
    await cluster.kubectl("delete", "crd", "externalports.plexus.dev", "--timeout=120s");
    await cluster.kubectl("delete", "namespace", "networks", "--wait=false");
    await cluster.kubectl("-n", "kube-system", "delete", "secret", "openstack", "--ignore-not-found");
    proxy?.dispose();
    await neutron?.dispose();
    await cluster.stop();
  }, 300_000);

  // Beside another cluster, Neutron may answer no request for two minutes after it was asked to delete a bound port, and tells of a bound port as late.
  const patient = { timeout: 240_000 };
  const inPatience = { timeout: 900_000 };

  test("KU-20 two pods run with MAC, address and MTU of their ports, and ping each other over OVN", inPatience, async () => {
    await cluster.apply(portedPod("ping"), portedPod("pong"));
    await ready("ping", "pong");
    const [ping, pong] = [await attached("ping"), await attached("pong")];
    const ports = await ownPorts();
    expect([ping, pong].map(({ mac, ips }) => [mac, ...ips]).toSorted()).toEqual(
      ports.map(({ mac_address: mac, fixed_ips: ips }) => [mac, ...ips.map((each) => each.ip_address)]).toSorted(),
    );
    expect(plugged().map(interfaceId).toSorted()).toEqual(ports.map(({ id }) => id).toSorted());
    const link = await cluster.succeed("exec", "ping", "--", "ip", "-o", "link", "show", "dev", ping.interface);
    expect(link).toContain(ping.mac);
    expect(link).toContain(` mtu ${await externalPorts("jsonpath={.items[0].status.mtu}")} `);
    await expect.poll(() => pings("ping", pong), patient).toBe(true);
    expect(await pings("pong", ping)).toBe(true);
    await expect
      .poll(() => externalPorts('jsonpath={.items[*].status.conditions[?(@.type=="Active")].status}'), patient)
      .toBe("True True");
    const kuryr = "jsonpath={.metadata.annotations.openstack\\.org/kuryr-vif}";
    await expect.poll(() => cluster.succeed("get", "pod", "ping", "-o", kuryr)).toContain(ping.mac);
  });

  test(
    "kubectl delete pod removes the ports from Neutron and from Open vSwitch, and everything from the node",
    inPatience,
    async () => {
      await cluster.succeed("delete", "pod", "ping", "pong", "--timeout=120s");
      await expect.poll(() => leftOn(node)).toEqual(before);
      expect(plugged()).toEqual([]);
      await expect.poll(ownPorts, patient).toEqual([]);
      await expect.poll(() => externalPorts("name"), patient).toBe("");
    },
  );

  test("a pod beyond the quota stays in ContainerCreating with an Event, and runs once the quota is raised", async () => {
    await setQuota(0);
    await cluster.apply(portedPod("waiting"));
    await expect.poll(() => eventsOf(cluster, "waiting", "QuotaExceeded")).toContain("OverQuota");
    await expect.poll(() => eventsOf(cluster, "waiting", "FailedCreatePodSandBox")).toContain("QuotaExceeded");
    const state = "jsonpath={.status.phase} {.status.containerStatuses[0].state.waiting.reason}";
    expect(await cluster.succeed("get", "pod", "waiting", "-o", state)).toBe("Pending ContainerCreating");
    expect([plugged(), await ownPorts()]).toEqual([[], []]);
    await setQuota(20);
    await ready("waiting");
    const { mac, ips } = await attached("waiting");
    expect(await ownPorts()).toMatchObject([{ mac_address: mac, fixed_ips: ips.map((each) => ({ ip_address: each })) }]);
  });

  test("the removal of the CustomResourceDefinition waits for the last pod on a port, whose port is then released", async () => {
    const removal = cluster.succeed("delete", "crd", "externalports.plexus.dev", "--wait", "--timeout=120s");
    // The expectations below report the failure.
    removal.catch(() => undefined);
    await expect.poll(() => eventsOf(cluster, "waiting", "NoExternalPort")).toContain("until the pod is gone");
    expect(await ownPorts()).toHaveLength(1);
    await cluster.succeed("delete", "pod", "waiting", "--timeout=120s");
    await removal;
    expect(await ownPorts()).toEqual([]);
    await expect.poll(() => leftOn(node)).toEqual(before);
    expect(plugged()).toEqual([]);
  });

  test("plexus-controller was refused nothing, and restarted never", async () => {
    const pods = ["-l", "app.kubernetes.io/name=plexus-controller"];
    const logs = await cluster.succeed("-n", "kube-system", "logs", ...pods, "--tail=-1");
    expect(logs.split("\n").filter((line) => line.includes("HTTP 403"))).toEqual([]);
    const restarts = "jsonpath={.items[*].status.containerStatuses[*].restartCount}";
    expect(await cluster.succeed("-n", "kube-system", "get", "pods", ...pods, "-o", restarts)).toBe("0 0");
  });
});
