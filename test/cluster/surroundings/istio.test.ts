// Plexus beside Istio's CNI node agent and plugin, built from istio.io/istio, on a node with a real kubelet and containerd.

import { describe, expect, test } from "vitest";

import type { Cluster } from "../../lab/cluster/cluster.ts";
import type { ClusterNode } from "../../lab/cluster/node.ts";
import { deployPlexus, removePlexus } from "../../lab/cluster/release.ts";
import { storage } from "../../lab/cluster/storage.ts";
import { toolsImage } from "../../lab/cluster/images.ts";
import { besideCluster, missingBeside } from "../../lab/surroundings/beside-cluster.ts";
import * as beside from "../../lab/surroundings/beside.ts";
import { deployIstio, importIstio, removeIstio } from "../../lab/surroundings/istio/install.ts";
import { istioDaemonSet, istioNamespace } from "../../lab/surroundings/istio/objects.ts";
import { istioPrograms } from "../../lab/surroundings/istio/programs.ts";

const skip = missingBeside("Istio", istioPrograms.requirement);

const plexusFile = "00-plexus.conflist";
const networkFile = "10-bridge.conflist";
const network = ["bridge", "portmap"];

/** A pod that Istio's injector has changed: the plugin looks for the container `istio-proxy` and for the annotation of the injector. */
function meshed(name: string, annotations: Readonly<Record<string, string>> = {}): object {
  const containers = ["main", "istio-proxy"].map((each) => ({ name: each, image: toolsImage, imagePullPolicy: "Never" }));
  return beside.besidePod(name, { containers }, { "sidecar.istio.io/status": "{}", ...annotations });
}

describe.skipIf(skip)("Plexus beside Istio", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  besideCluster(async (started) => {
    cluster = started;
    [node] = cluster.nodes;
    node.installNetwork();
    for (const tag of ["v1", "v2"]) importIstio(cluster.nodes, tag);
    await cluster.nodesReady();
  });

  const lists = (): object => ({ plexus: beside.stepsOf(node, plexusFile), network: beside.stepsOf(node, networkFile) });
  /** How often each pod's network namespace has Istio's redirection. */
  const redirections = (): readonly number[] => {
    const script =
      "for each in /run/netns/*; do nsenter --net=$each iptables-save -t nat 2>/dev/null | grep -c -e '-A ISTIO_REDIRECT '; done";
    return node.run(["sh", "-c", script]).stdout.trim().split("\n").map(Number);
  };
  const redirected = (pods: number): void => {
    const counts = redirections();
    expect(counts.filter((each) => each > 0)).toEqual(Array.from({ length: pods }, () => 1));
  };
  const reaches = async (from: string, to: string): Promise<boolean> => {
    const [, address = ""] = /data0 +inet ([\d.]+)\//u.exec(await beside.addresses(cluster, to)) ?? [];
    return (await cluster.kubectl("exec", from, "-c", "main", "--", "sh", "-c", `nc -w 5 ${address} 80 </dev/null`)).status === 0;
  };

  test("FI-35: installed before Plexus, Istio's step stays in the default network's list; ten pods have two networks", async () => {
    await deployIstio(cluster, "v1");
    expect(lists()).toEqual({ plexus: undefined, network: [...network, "istio-cni"] });
    await deployPlexus(cluster, "install", "v1", ...beside.chartSettings);
    await cluster.apply(storage);
    expect(lists()).toEqual({ plexus: ["plexus"], network: [...network, "istio-cni"] });
    await cluster.apply(...beside.tenPods.map((name) => meshed(name)), beside.besidePod("plain"));
    await beside.ready(cluster, [...beside.tenPods, "plain"]);
    for (const name of [...beside.tenPods, "plain"]) await beside.connected(cluster, name);
    redirected(10);
  }, 600_000);

  test("Istio redirects TCP on the further network too, unless the pod's annotation excludes its interface", async () => {
    await cluster.apply(meshed("excluded", { "traffic.sidecar.istio.io/excludeInterfaces": "data0" }));
    await beside.ready(cluster, ["excluded"]);
    for (const name of ["pod-0", "excluded"])
      await cluster.succeed("exec", name, "-c", "main", "--", "sh", "-c", "httpd -p 80 -h /www");
    expect(await reaches("plain", "pod-0")).toBe(false);
    expect(await reaches("plain", "excluded")).toBe(true);
    await beside.deleted(cluster, "excluded");
  }, 600_000);

  test("a host port of a pod in the mesh is mapped, and freed at its deletion", async () => {
    await cluster.apply(beside.servingPod("web"));
    await beside.ready(cluster, ["web"]);
    expect(beside.hostPortStatus(node)).toBe("404");
    await beside.deleted(cluster, "web");
    expect(beside.hostPortStatus(node)).toBe("000");
  }, 600_000);

  test("hot-plug attaches and detaches a network of a pod in the mesh", async () => {
    expect(await beside.hotPlugged(cluster, "pod-1")).toEqual(beside.hotPlugging);
  }, 600_000);

  test("FI-35: restarts of Istio, then of Plexus, leave the step once: in Plexus' file, which the agent now finds first", async () => {
    await beside.restarted(cluster, istioNamespace, istioDaemonSet);
    await expect.poll(lists).toEqual({ plexus: ["plexus", "istio-cni"], network });
    await beside.restarted(cluster, "kube-system", "plexus");
    expect(lists()).toEqual({ plexus: ["plexus", "istio-cni"], network });
    await cluster.apply(meshed("later"));
    await beside.ready(cluster, ["later"]);
    redirected(11);
    expect(await beside.hotPlugged(cluster, "later")).toEqual(beside.hotPlugging);
  }, 600_000);

  test("upgrades of either keep the step once", async () => {
    await deployIstio(cluster, "v2");
    await deployPlexus(cluster, "upgrade", "v2", ...beside.chartSettings);
    await expect.poll(lists).toEqual({ plexus: ["plexus", "istio-cni"], network });
    await cluster.apply(meshed("upgraded"));
    await beside.ready(cluster, ["upgraded"]);
    redirected(12);
  }, 600_000);

  test("after a reboot each pod has both networks and one redirection", async () => {
    await beside.rebooted(cluster, node);
    for (const name of [...beside.tenPods, "later"]) await beside.connected(cluster, name);
    await expect.poll(lists).toEqual({ plexus: ["plexus", "istio-cni"], network });
    redirected(12);
  }, 600_000);

  test("FI-34 FI-35: uninstalled, Istio leaves no step; pods of the mesh end, and new pods start", async () => {
    await removeIstio(cluster);
    await expect.poll(lists).toEqual({ plexus: ["plexus"], network });
    await beside.deleted(cluster, ...beside.tenPods.slice(0, 5), "later", "upgraded");
    await cluster.apply(beside.besidePod("without-mesh"));
    await beside.ready(cluster, ["without-mesh"]);
  }, 600_000);

  test("FI-34: pods whose step was in the default network's list end as well once Istio is uninstalled", async () => {
    // The uninstallation of Plexus waits for pods with further networks.
    await beside.deleted(cluster, ...beside.tenPods.slice(5), "plain", "without-mesh");
    await removePlexus(cluster);
    await deployIstio(cluster, "v1");
    await deployPlexus(cluster, "install", "v1", ...beside.chartSettings);
    expect(lists()).toEqual({ plexus: ["plexus"], network: [...network, "istio-cni"] });
    await cluster.apply(meshed("old-step"));
    await beside.ready(cluster, ["old-step"]);
    await removeIstio(cluster);
    expect(lists()).toEqual({ plexus: ["plexus"], network });
    await beside.deleted(cluster, "old-step");
  }, 600_000);

  test("FI-35: installed after Plexus, the step goes into Plexus' file; once Plexus is uninstalled, the agent must be restarted", async () => {
    await deployPlexus(cluster, "upgrade", "v1", "--install", ...beside.chartSettings);
    await deployIstio(cluster, "v1");
    await expect.poll(lists).toEqual({ plexus: ["plexus", "istio-cni"], network });
    await cluster.apply(meshed("after", { "k8s.v1.cni.cncf.io/networks": "[]" }));
    await beside.ready(cluster, ["after"]);
    await removePlexus(cluster);
    // The agent keeps to the first file that it has found, and waits for it.
    expect(lists()).toEqual({ plexus: undefined, network });
    await beside.restarted(cluster, istioNamespace, istioDaemonSet);
    await expect.poll(lists).toEqual({ plexus: undefined, network: [...network, "istio-cni"] });
    await beside.deleted(cluster, "after");
  }, 600_000);
});
