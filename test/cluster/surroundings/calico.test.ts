// Plexus beside Calico's CNI plugin with the Kubernetes datastore, built from projectcalico/calico, on a node with a real kubelet and containerd.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Cluster, startCluster } from "../../lab/cluster/cluster.ts";
import { statusAnnotation } from "../../lab/cluster/fault-pods.ts";
import { leftOn } from "../../lab/cluster/left.ts";
import type { ClusterNode } from "../../lab/cluster/node.ts";
import { toolsPod } from "../../lab/cluster/pods.ts";
import { importPlexus } from "../../lab/cluster/plexus-image.ts";
import { breakPlexus, deployPlexus, removePlexus } from "../../lab/cluster/release.ts";
import { missingCluster } from "../../lab/cluster/requirements.ts";
import { storage } from "../../lab/cluster/storage.ts";
import { helm } from "../../lab/kube/helm.ts";
import { missingBuild } from "../../lab/plexus.ts";
import { referencePlugins } from "../../lab/requires.ts";
import * as beside from "../../lab/surroundings/beside.ts";
import { deployCalico, importCalico, removeCalico } from "../../lab/surroundings/calico/install.ts";
import { calicoDaemonSet } from "../../lab/surroundings/calico/objects.ts";
import { calicoPrograms } from "../../lab/surroundings/calico/programs.ts";

const skip = missingCluster(
  "Plexus beside Calico",
  helm,
  () => missingBuild({ components: ["ipam-host-local"] }),
  referencePlugins("bandwidth"),
  calicoPrograms.requirement,
);

const plexusFile = "00-plexus.conflist";
const calicoFile = "10-calico.conflist";

describe.skipIf(skip)("Plexus beside Calico", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  beforeAll(async () => {
    cluster = await startCluster();
    [node] = cluster.nodes;
    for (const plugin of ["loopback", "portmap", "bandwidth", "bridge", "host-local"]) node.installPlugin(plugin);
    for (const tag of ["v1", "v2"]) {
      importCalico(cluster.nodes, tag);
      importPlexus(cluster.nodes, tag);
    }
  }, 300_000);
  afterAll(async () => cluster?.stop());

  /** The number of addresses that Calico's blocks have allocated to pods. */
  const allocated = async (): Promise<number> => {
    const text = await cluster.succeed("get", "ipamblocks.crd.projectcalico.org", "-o", "json");
    const blocks: { items: { spec: { allocations: (number | null)[] } }[] } = JSON.parse(text);
    return blocks.items.flatMap(({ spec }) => spec.allocations).filter((each) => each !== null).length;
  };
  const lists = (): object => ({ plexus: beside.stepsOf(node, plexusFile), calico: beside.stepsOf(node, calicoFile) });
  const calicoSteps = ["calico", "portmap", "bandwidth"];

  test("FI-36: installed before Plexus, Calico is the default network of ten pods with a second network", async () => {
    await deployCalico(cluster, "v1");
    await cluster.nodesReady();
    await cluster.apply(beside.besidePod("before-plexus"));
    await beside.ready(cluster, ["before-plexus"]);
    await deployPlexus(cluster, "install", "v1", ...beside.chartSettings);
    await cluster.apply(storage);
    expect(lists()).toEqual({ plexus: ["plexus"], calico: calicoSteps });
    await cluster.apply(...beside.tenPods.map((name) => beside.besidePod(name)));
    await beside.ready(cluster, beside.tenPods);
    for (const name of beside.tenPods) await beside.connected(cluster, name);
    const { metadata, status } = await cluster.core.readNamespacedPod({ namespace: "default", name: "pod-1" });
    expect(status?.podIP).toMatch(/^10\.48\.0\.\d+$/u);
    expect(metadata?.annotations?.["cni.projectcalico.org/podIP"]).toBe(`${status?.podIP}/32`);
    await cluster.succeed("exec", "pod-0", "--", "ping", "-c", "1", "-W", "5", status?.podIP ?? "");
    expect(await allocated()).toBe(11);
  }, 600_000);

  test("Calico's result has the host's link only, so the status of the default network has no interface and no MAC", async () => {
    const { metadata } = await cluster.core.readNamespacedPod({ namespace: "default", name: "pod-0" });
    const [network] = JSON.parse(metadata?.annotations?.[statusAnnotation] ?? "[]");
    expect(network).toEqual({ name: "k8s-pod-network", ips: [expect.stringMatching(/^10\.48\.0\./u)], default: true });
  });

  test("FI-18: hot-plug works without the pod's MAC in the default network's result", async () => {
    expect(await beside.hotPlugged(cluster, "pod-0")).toEqual(beside.hotPlugging);
  }, 600_000);

  test("a host port is mapped by Calico's own step, and freed at the pod's deletion", async () => {
    await cluster.apply(beside.servingPod("web"));
    await beside.ready(cluster, ["web"]);
    expect(beside.hostPortStatus(node)).toBe("404");
    await beside.deleted(cluster, "web");
    expect(beside.hostPortStatus(node)).toBe("000");
  }, 600_000);

  test("FI-36: restarts and upgrades of either change no pod, and hot-plug works afterwards", async () => {
    await beside.restarted(cluster, "kube-system", calicoDaemonSet);
    await beside.restarted(cluster, "kube-system", "plexus");
    await deployCalico(cluster, "v2");
    await deployPlexus(cluster, "upgrade", "v2", ...beside.chartSettings);
    for (const name of beside.tenPods) await beside.connected(cluster, name);
    expect(await beside.hotPlugged(cluster, "pod-2")).toEqual(beside.hotPlugging);
    await cluster.apply(beside.besidePod("upgraded"));
    await beside.ready(cluster, ["upgraded"]);
    await beside.connected(cluster, "upgraded");
  }, 600_000);

  test("after a reboot each pod has both networks, and the addresses of before are free", async () => {
    await beside.rebooted(cluster, node);
    for (const name of beside.tenPods) await beside.connected(cluster, name);
    await expect.poll(allocated).toBe(12);
  }, 600_000);

  test("FI-36: without Calico deleted pods wait; they end, with no address left, once Calico is there again", async () => {
    await removeCalico(cluster);
    await expect.poll(lists).toEqual({ plexus: undefined, calico: undefined });
    await cluster.succeed("delete", "pod/pod-3", "pod/pod-4", "pod/before-plexus", "--wait=false");
    await deployCalico(cluster, "v1");
    await expect.poll(lists).toEqual({ plexus: ["plexus"], calico: calicoSteps });
    await cluster.succeed("wait", "--for=delete", "--timeout=240s", "pod/pod-3", "pod/pod-4", "pod/before-plexus");
    expect(await allocated()).toBe(9);
    await cluster.apply(beside.besidePod("again"));
    await beside.ready(cluster, ["again"]);
    await beside.connected(cluster, "again");
  }, 600_000);

  test("FI-36: without Plexus, Calico detaches the default network, and new pods have Calico alone", async () => {
    await cluster.apply(toolsPod("single"));
    await beside.ready(cluster, ["single"]);
    // The uninstallation of Plexus waits for pods with further networks.
    const left = beside.tenPods.filter((name) => name !== "pod-3" && name !== "pod-4");
    await beside.deleted(cluster, ...left, "upgraded", "again");
    await removePlexus(cluster);
    expect(lists()).toEqual({ plexus: undefined, calico: calicoSteps });
    await beside.deleted(cluster, "single");
    await cluster.apply(beside.besidePod("alone"));
    await beside.ready(cluster, ["alone"]);
    expect(await beside.addresses(cluster, "alone")).not.toContain("data0");
    await beside.deleted(cluster, "alone");
    expect(await allocated()).toBe(0);
    expect(leftOn(node).links.filter((name) => name.startsWith("cali"))).toEqual([]);
  }, 600_000);

  test("FI-36: installed after Plexus, Calico becomes the default network of an empty node", async () => {
    await removeCalico(cluster);
    await breakPlexus(cluster, "v1", "--install", ...beside.chartSettings);
    await deployCalico(cluster, "v1");
    await expect.poll(lists).toEqual({ plexus: ["plexus"], calico: calicoSteps });
    await cluster.apply(beside.besidePod("last"));
    await beside.ready(cluster, ["last"]);
    await beside.connected(cluster, "last");
    await beside.deleted(cluster, "last");
  }, 600_000);
});
