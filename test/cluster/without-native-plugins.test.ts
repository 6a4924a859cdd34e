// The chart with `nativePlugins: none` on a node whose native plugins are removed while a pod of theirs runs.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../lab/cluster/cluster.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import { toolsDeployment } from "../lab/cluster/pods.ts";
import { clusterWithImage } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, explained, removePlexus } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { storageWith } from "../lab/cluster/storage.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";
import { nativePlugins } from "../lab/wasm-only.ts";

const components = ["bridge", "host-local", "portmap", "ptp"];
const skip = missingCluster("a cluster without native plugins", helm, () => missingBuild({ components }));

/** Grants of the default network, and of the networks that the pods select. */
const grants = {
  bridge: {
    log: {},
    links: { bridges: ["cni0", "br-storage"], forwarding: true },
    delegation: { plugins: ["host-local"] },
  },
  ptp: { log: {}, links: { networks: ["10.30.0.0/24"], forwarding: true }, delegation: { plugins: ["host-local"] } },
  portmap: { log: {}, firewall: { hostPorts: ["8000-9000"] } },
};

const direct = {
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name: "direct", namespace: "default" },
  spec: {
    config: JSON.stringify({
      cniVersion: "1.0.0",
      name: "direct",
      plugins: [{ type: "ptp", ipam: { type: "host-local", subnet: "10.30.0.0/24" } }],
    }),
  },
};

describe.skipIf(skip)("a node without native plugins", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await clusterWithImage();
    await cluster.apply(toolsDeployment("before", 1));
    await cluster.succeed("rollout", "status", "deployment/before", "--timeout=120s");
    await deployPlexus(
      cluster,
      "install",
      "v1",
      "--set",
      "nativePlugins=none",
      "--set-json",
      `wasm.grants=${JSON.stringify(grants)}`,
    );
  }, 1_800_000);
  afterAll(async () => {
    // Other files use the same cluster.
    for (const name of ["bridge", "host-local", "portmap"]) cluster?.nodes[0].installPlugin(name);
    await cluster?.stop();
  }, 120_000);

  const binaries = (): string => join(cluster.nodes[0].disk, "opt", "cni", "bin");

  async function doctor(): Promise<string> {
    const inDaemon = ["-n", "kube-system", "exec", "daemonset/plexus", "-c", "plexusd", "--"];
    const command = ["/opt/plexus/bin/node", "/opt/plexus/plexusctl.cjs", "doctor", "-o", "json"];
    const { stdout, stderr } = await cluster.kubectl(...inDaemon, ...command);
    if (!stdout.startsWith("{")) throw new Error(stderr);
    const { checks }: { readonly checks: readonly { readonly name: string; readonly found: string }[] } = JSON.parse(stdout);
    return checks.find(({ name }) => name === "native-plugins")?.found ?? stdout;
  }

  test("has no native plugin but the loopback, which the runtime executes itself, and doctor says so", async () => {
    for (const name of ["bridge", "host-local", "portmap"]) rmSync(join(binaries(), name));
    expect(nativePlugins(binaries())).toEqual(["loopback"]);
    expect(readdirSync(binaries())).toEqual(expect.arrayContaining(components.map((name) => `${name}.wasm`)));
    expect(await doctor()).toBe("no native plugin is used by any network of this node");
  });

  test("attaches pods to the default network and to two further ones", async () => {
    await cluster.apply(storageWith("host-local"));
    await cluster.apply(direct);
    const networks = { "k8s.v1.cni.cncf.io/networks": "storage@data0, direct@direct0" };
    await cluster.apply(toolsDeployment("web", 2, { annotations: networks }));
    await cluster.succeed("rollout", "status", "deployment/web", "--timeout=120s").catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    });
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=web" });
    const [one, other] = items;
    const status = other?.metadata?.annotations?.["k8s.v1.cni.cncf.io/network-status"] ?? "[]";
    const networksOfOther: readonly { readonly interface: string; readonly ips: readonly string[] }[] = JSON.parse(status);
    expect(networksOfOther.map((each) => each.interface)).toEqual(["eth0", "data0", "direct0"]);
    for (const { ips } of networksOfOther)
      await cluster.succeed("exec", one?.metadata?.name ?? "", "--", "ping", "-c", "1", "-W", "5", ips[0] ?? "");
    expect(await doctor()).toBe("no native plugin is used by any network of this node");
  });

  test("detaches all pods, also the one that native plugins attached", async () => {
    const [node] = cluster.nodes;
    await cluster.succeed("delete", "deployment/web", "deployment/before", "--cascade=foreground", "--timeout=120s");
    await expect.poll(() => leftOn(node)).toEqual(nothingLeft);
    await removePlexus(cluster);
  });
});
