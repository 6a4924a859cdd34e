// PodNetworks on a real cluster: the chart's controller with exactly its rights, the scheduler's gate, and the node's daemon.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, explained } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { apiAddress } from "../lab/kube/address.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";
import { startPortProvider, type TestProvider } from "../lab/port-provider.ts";

const skip = missingCluster("PodNetworks on a cluster", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const storage = { group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", name: "storage", namespace: "default" };

/** A pod on the PodNetworks with these names. */
function podOn(name: string, ...networks: readonly string[]): object {
  const text = JSON.stringify(networks.map((podNetworkName) => ({ podNetworkName })));
  return toolsPod(name, { annotations: { "plexus.dev/networks": text }, spec: { terminationGracePeriodSeconds: 1 } });
}

/** The pod and the cluster's state, for a failed test. */
async function withPod(cluster: Cluster, name: string): Promise<string> {
  return `${await cluster.succeed("get", "pod", name, "-o", "yaml")}\n${await explained(cluster)}`;
}

describe.skipIf(skip)("PodNetworks with the chart on a real cluster", () => {
  let cluster: Cluster;
  let provider: TestProvider;
  beforeAll(async () => {
    cluster = await clusterWithPlexus();
    const tls = cluster.authority.issue("fabric", { commonName: "fabric", alternativeNames: [`IP:${apiAddress}`] });
    provider = await startPortProvider({ address: apiAddress, tls });
    const fabric = { name: "fabric", type: "http", namespaces: ["default"], owner: "test", url: provider.url };
    const authority = readFileSync(cluster.authority.certificate, "utf8");
    const externalPorts = `externalPorts=${JSON.stringify({ enabled: true, providers: [fabric], authority })}`;
    await deployPlexus(cluster, "upgrade", "v1", "--set", "networks.enabled=true", "--set-json", externalPorts);
    await cluster.apply(
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: "use-storage" },
        rules: [{ apiGroups: ["plexus.dev"], resources: ["podnetworks"], resourceNames: ["storage"], verbs: ["use"] }],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "use-storage", namespace: "default" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "use-storage" },
        subjects: [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
      },
    );
  }, 300_000);
  afterAll(async () => {
    if (cluster === undefined) return;
    // docs/how-to/pod-networks.md, "Remove"
    await cluster.succeed("delete", "pods", "--all", "--timeout=120s");
    const crds = ["podnetworks.plexus.dev", "podnetworkattachments.plexus.dev", "externalports.plexus.dev"];
    await cluster.kubectl("delete", "crd", ...crds, "--wait", "--timeout=120s");
    await deployPlexus(cluster, "upgrade", "v1", "--set", "networks.enabled=false", "--set", "externalPorts.enabled=false");
    await cluster.stop();
    provider?.dispose();
  });

  test("KE-28 KE-43 KE-57: a gated pod is scheduled when its network is ready, and gets its interfaces", async () => {
    // A controller waits for the end of its predecessor's Lease, and `kubectl wait` fails at once for an object that is absent.
    await cluster.succeed("wait", "--for=create", "--timeout=120s", "podnetwork/default");
    await cluster.succeed("wait", "--for=jsonpath={.status.phase}=Ready", "--timeout=120s", "podnetwork/default");
    await cluster.apply(podOn("web", "default", "storage"));
    await expect
      .poll(() => cluster.succeed("get", "pod", "web", "-o", "jsonpath={.status.conditions[*].message}"))
      .toContain('PodNetwork "storage" not found');
    await cluster.apply(networkObjects.podNetwork("storage", { parametersRefs: [storage] }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/web").catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    });
    const status = await cluster.succeed(
      "get",
      "pod",
      "web",
      "-o",
      "jsonpath={.metadata.annotations.plexus\\.dev/network-status}",
    );
    if (status === "") throw new Error(`web has no status of PodNetworks\n${await withPod(cluster, "web")}`);
    expect(JSON.parse(status)).toMatchObject([
      { name: "default", interfaceName: "eth0", isDefaultGW4: true },
      { name: "storage", interfaceName: "net1", ips: [expect.stringMatching(/^10\.20\.0\./)] },
    ]);
    const address = await cluster.succeed("exec", "web", "--", "ip", "-o", "-4", "address", "show", "dev", "net1");
    expect(address).toContain("10.20.0.");
  });

  test("KE-13: a network in use is deleted when its last pod is gone", async () => {
    await cluster.succeed("wait", "--for=jsonpath={.status.phase}=InUse", "--timeout=120s", "podnetwork/storage");
    await cluster.succeed("delete", "podnetwork", "storage", "--wait=false");
    expect(await cluster.succeed("get", "podnetwork", "storage", "-o", "jsonpath={.metadata.deletionTimestamp}")).not.toBe("");
    await cluster.succeed("delete", "pod", "web", "--timeout=120s");
    await cluster.succeed("wait", "--for=delete", "--timeout=120s", "podnetwork/storage");
  });

  test("the controller was refused nothing, and restarted never", async () => {
    const logs = await cluster.succeed(
      "-n",
      "kube-system",
      "logs",
      "-l",
      "app.kubernetes.io/name=plexus-controller",
      "--tail=-1",
    );
    expect(logs.split("\n").filter((line) => line.includes("HTTP 403"))).toEqual([]);
    const restarts = ["get", "pods", "-l", "app.kubernetes.io/name=plexus-controller", "-o"];
    expect(
      await cluster.succeed("-n", "kube-system", ...restarts, "jsonpath={.items[*].status.containerStatuses[*].restartCount}"),
    ).toMatch(/^0( 0)*$/);
  });

  test("KU-20 the chart's externalPorts.authority lets plexus-controller get and release the port of a pod over HTTPS", async () => {
    await cluster.apply({
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name: "fabric", namespace: "default", annotations: { "plexus.dev/external-port": '{"provider":"fabric"}' } },
      spec: { config: JSON.stringify({ cniVersion: "1.0.0", name: "fabric", plugins: [{ type: "external-port" }] }) },
    });
    // The node has no switch of the fabric, so the pod does not run.
    await cluster.apply(toolsPod("ported", { annotations: { "k8s.v1.cni.cncf.io/networks": "fabric" } }));
    const conditions = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")]}';
    await expect.poll(() => cluster.succeed("get", "externalports", "-o", conditions)).toContain('"status":"True"');
    expect(provider.ports.size).toBe(1);
    await cluster.succeed("delete", "pod", "ported", "--timeout=120s");
    await expect.poll(() => provider.ports.size).toBe(0);
  });
});
