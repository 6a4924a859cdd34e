// Plexus beside CoreDNS and kube-proxy in nftables mode, both built from their modules, on a node with a real kubelet and containerd.

import { describe, expect, test } from "vitest";

import type { Cluster } from "../../lab/cluster/cluster.ts";
import type { ClusterNode } from "../../lab/cluster/node.ts";
import { toolsPod } from "../../lab/cluster/pods.ts";
import { deployPlexus, removePlexus } from "../../lab/cluster/release.ts";
import { storage } from "../../lab/cluster/storage.ts";
import { besideCluster, missingBeside } from "../../lab/surroundings/beside-cluster.ts";
import * as beside from "../../lab/surroundings/beside.ts";
import { answering, deployCoreDns } from "../../lab/surroundings/coredns/install.ts";
import { clusterNames } from "../../lab/surroundings/coredns/objects.ts";
import { coreDns } from "../../lab/surroundings/coredns/programs.ts";
import { deployKubeProxy, removeKubeProxy } from "../../lab/surroundings/kube-proxy/install.ts";
import { kubeProxyDaemon } from "../../lab/surroundings/kube-proxy/objects.ts";
import { kubeProxy } from "../../lab/surroundings/kube-proxy/programs.ts";
import { stageMs } from "../../lab/surroundings/life-cycle.ts";

const skip = missingBeside("CoreDNS and kube-proxy", coreDns.requirement, kubeProxy.requirement);

const nodePort = 30_080;
/** The Service `web` of the pods with the label. Its NodePort is outside of the range of host ports. */
const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default" },
  spec: { type: "NodePort", selector: { app: "backend" }, ports: [{ port: 80, nodePort }] },
};
/** The component portmap maps the port in place of the plugin of that name. */
const component = ["--set-json", 'wasm={"prefer":true,"grants":{"portmap":{"log":{},"firewall":{"hostPorts":["8080"]}}}}'];

const backendSpec = { ...clusterNames, terminationGracePeriodSeconds: 1 };
const plainBackend = toolsPod("backend", { spec: backendSpec });
const backend = beside.besidePod("backend", backendSpec);

describe.skipIf(skip)("Plexus beside CoreDNS and kube-proxy", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  besideCluster(async (started) => {
    cluster = started;
    [node] = cluster.nodes;
    node.installNetwork();
    await cluster.nodesReady();
  });

  /** Whether a pod, which finds the Service by its name, gets the backend's file. The image's wget cannot resolve names: its libc is static. */
  const reaches = async (pod: string): Promise<boolean> => {
    const request = String.raw`printf 'GET /passwd HTTP/1.0\r\n\r\n' | nc -w 60 web 80`;
    const { stdout } = await cluster.kubectl("exec", pod, "--", "sh", "-c", request);
    return stdout.includes("root:x:0:0:root:/:/bin/sh");
  };
  const expectNames = async (...pods: readonly string[]): Promise<void> => {
    for (const pod of pods) await expect.poll(() => reaches(pod), beside.patient).toBe(true);
  };
  const nodePortStatus = (): string => beside.hostPortStatus(node, nodePort);
  const expectPorts = async (hostPort: "404" | "000"): Promise<void> => {
    await expect.poll(() => beside.hostPortStatus(node), beside.patient).toBe(hostPort);
    await expect.poll(nodePortStatus, beside.patient).toBe("404");
  };
  /** The backend serves its /etc. */
  const serve = async (): Promise<void> => {
    await beside.ready(cluster, ["backend"]);
    await cluster.succeed("exec", "backend", "--", "httpd", "-p", "80", "-h", "/etc");
  };

  test(
    "FI-38: without Plexus a pod finds the Service by its name",
    async () => {
      await deployKubeProxy(cluster);
      await deployCoreDns(cluster);
      await cluster.apply(service, plainBackend);
      await serve();
      await expectNames("backend");
      await expect.poll(nodePortStatus, beside.patient).toBe("404");
      await beside.restarted(cluster, kubeProxyDaemon.namespace, kubeProxyDaemon.name);
      await expect.poll(nodePortStatus, beside.patient).toBe("404");
      await beside.deleted(cluster, "backend");
    },
    stageMs,
  );

  test(
    "FI-38: ten pods with a second network find the Service, whose endpoint is on the default network",
    async () => {
      await deployPlexus(cluster, "install", "v1", ...beside.chartSettings);
      await cluster.apply(storage);
      await cluster.apply(backend, ...beside.tenPods.map((name) => beside.besidePod(name, clusterNames)));
      await serve();
      await beside.ready(cluster, beside.tenPods);
      await expectNames("backend", ...beside.tenPods);
      const { status } = await cluster.core.readNamespacedPod({ namespace: "default", name: "backend" });
      const slices = await cluster.succeed("get", "endpointslices", "-l", "kubernetes.io/service-name=web", "-o", "json");
      const { items }: { items: { endpoints: { addresses: string[] }[] }[] } = JSON.parse(slices);
      expect(items.flatMap(({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses))).toEqual([status?.podIP]);
      await beside.connected(cluster, "backend");
    },
    stageMs,
  );

  test(
    "FI-38: names stay while a further network is attached and detached",
    async () => {
      expect(await beside.hotPlugged(cluster, "pod-0")).toEqual(beside.hotPlugging);
      await expectNames("pod-0");
    },
    stageMs,
  );

  test(
    "FI-38: host ports of the plugin portmap, and a NodePort",
    async () => {
      await cluster.apply(beside.servingPod("web"));
      await beside.ready(cluster, ["web"]);
      await expectPorts("404");
      await beside.deleted(cluster, "web");
      await expectPorts("000");
    },
    stageMs,
  );

  test(
    "FI-38: host ports of the component portmap, and a NodePort, over a restart of kube-proxy",
    async () => {
      await deployPlexus(cluster, "upgrade", "v1", ...beside.chartSettings, ...component);
      // The kubelet brings a changed ConfigMap to the running daemon within some minutes. Until then pods have the plugin's mapping.
      const mapped = async (): Promise<string> => {
        await cluster.succeed("delete", "pod/web", "--ignore-not-found", "--timeout=240s");
        await cluster.apply(beside.servingPod("web"));
        await beside.ready(cluster, ["web"]);
        const { stdout, stderr } = node.exec(["nft", "list", "map", "ip", "plexus", "hostports"]);
        return `${stdout}${stderr}`;
      };
      await expect.poll(mapped, { timeout: 300_000, interval: 2000 }).toContain("tcp . 8080");
      await expectPorts("404");
      await beside.restarted(cluster, kubeProxyDaemon.namespace, kubeProxyDaemon.name);
      await expectPorts("404");
      await expectNames("pod-1");
    },
    stageMs,
  );

  test(
    "FI-38: after a reboot names, Services, the NodePort and the host port are there again",
    async () => {
      await beside.rebooted(cluster, node);
      await answering(cluster);
      await serve();
      await expectPorts("404");
      await expectNames(...beside.tenPods);
    },
    stageMs,
  );

  test(
    "FI-38: without kube-proxy the host port stays, and ends with its pod",
    async () => {
      await removeKubeProxy(cluster);
      await expect.poll(() => beside.hostPortStatus(node), beside.patient).toBe("404");
      await beside.deleted(cluster, "web");
      expect(beside.hostPortStatus(node)).toBe("000");
      await deployKubeProxy(cluster);
      await expectNames("pod-2");
    },
    stageMs,
  );

  test(
    "FI-38: without Plexus new pods find the Service",
    async () => {
      await beside.deleted(cluster, "backend", ...beside.tenPods);
      await removePlexus(cluster);
      await cluster.apply(plainBackend);
      await serve();
      await expectNames("backend");
      await beside.deleted(cluster, "backend");
    },
    stageMs,
  );
});
