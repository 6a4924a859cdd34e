// The tests' own cluster: two nodes, a node's reboot, the end of every process.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { processesNaming } from "../lab/processes.ts";
import { removeCgroups } from "../lab/cluster/cgroups.ts";
import { type Cluster, startCluster } from "../lab/cluster/cluster.ts";
import { cgroupOf } from "../lab/cluster/machine.ts";
import { toolsImage } from "../lab/cluster/images.ts";
import { importPlexus } from "../lab/cluster/plexus-image.ts";
import { deployPlexus, explained } from "../lab/cluster/release.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { root } from "../lab/compiled.ts";
import { helm } from "../lab/kube/helm.ts";
import { inHost } from "../lab/namespaces.ts";
import { missingBuild } from "../lab/plexus.ts";
import { linkType, missing, referencePlugins } from "../lab/requires.ts";

describe.skipIf(missingCluster("two nodes"))("a cluster with two nodes", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 2 });
    for (const node of cluster.nodes) node.installNetwork();
    await cluster.nodesReady();
  });
  afterAll(async () => cluster?.stop());

  const addressOf = (pod: string): Promise<string> => cluster.succeed("get", "pod", pod, "-o", "jsonpath={.status.podIP}");

  test("pods of both nodes reach each other and the service kubernetes", async () => {
    await cluster.apply(toolsPod("one", { node: "node-1" }), toolsPod("two", { node: "node-2" }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/one", "pod/two");
    await cluster.succeed("exec", "one", "--", "ping", "-c", "1", "-W", "2", await addressOf("two"));
    const [node] = cluster.nodes;
    expect(await addressOf("one")).toMatch(/^10\.244\.0\./);
    expect(await addressOf("two")).toMatch(/^10\.244\.1\./);
    expect(node.run(["iptables", "-t", "nat", "-L", "-n"]).stdout).toContain("10.96.0.1");
    await cluster.succeed("exec", "two", "--", "nc", "-w", "2", "10.96.0.1", "443", "-e", "true");
  });

  test("a reboot takes processes, links and /run away, keeps the disk, and the kubelet restarts the pods", async () => {
    const [node] = cluster.nodes;
    const before = node.run(["cat", "/proc/sys/kernel/random/boot_id"]).stdout;
    node.run(["sh", "-c", "echo x >/run/volatile; echo x >/etc/kept"]);
    await node.reboot();
    expect(node.run(["cat", "/proc/sys/kernel/random/boot_id"]).stdout).not.toBe(before);
    expect([existsSync(node.on("/run/volatile")), existsSync(join(node.disk, "etc", "kept"))]).toEqual([false, true]);
    await expect.poll(() => cluster.succeed("get", "pod", "one", "-o", restarts), { timeout: 90_000, interval: 500 }).toBe("1");
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/one");
    await cluster.succeed("exec", "one", "--", "ping", "-c", "1", "-W", "2", await addressOf("two"));
  });

  const skipPlexus = missing("PodNetworks on two nodes", helm, linkType("macvlan"), referencePlugins("macvlan", "static"), () =>
    missingBuild({ components: ["ipam-host-local"] }),
  );
  test.skipIf(skipPlexus)(
    "KE-37: pods of two nodes on one PodNetwork reach each other, and pods on another one do not",
    async () => {
      importPlexus(cluster.nodes, "v1");
      layer2Networks(cluster.nodes);
      for (const node of cluster.nodes) for (const plugin of ["macvlan", "static"]) node.installPlugin(plugin);
      await deployPlexus(cluster, "install", "v1", "--set", "networks.enabled=true");
      await cluster.succeed("wait", "--for=jsonpath={.status.phase}=Ready", "--timeout=120s", "podnetwork/default");
      const example = readFileSync(join(root, "deploy/examples/networks/story-1-two-planes.yaml"), "utf8");
      // The nodes have one image only, and pull none.
      await cluster.apply(
        example.replaceAll(/image: "busybox:[^"]*", command: \[[^\]]*\]/g, `image: "${toolsImage}", imagePullPolicy: Never`),
      );
      const pods = ["pod/cnf-a", "pod/cnf-b", "pod/cnf-c"];
      await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", ...pods).catch(async (error: unknown) => {
        throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
      });
      const nodesOf = await cluster.succeed("get", "pod", "cnf-a", "cnf-b", "-o", "jsonpath={.items[*].spec.nodeName}");
      expect(nodesOf.split(" ").toSorted()).toEqual(["node-1", "node-2"]);
      const ping = (pod: string, address: string): Promise<{ readonly status: number | null }> =>
        cluster.kubectl("exec", pod, "--", "ping", "-c", "2", "-W", "2", address);
      expect(await ping("cnf-a", "10.70.0.2")).toMatchObject({ status: 0 });
      expect(await ping("cnf-b", "10.70.0.1")).toMatchObject({ status: 0 });
      // cnf-c has an address of the same subnet, on the other layer-2 network.
      expect(await cluster.succeed("exec", "cnf-c", "--", "ip", "-o", "-4", "address")).toContain("10.70.0.3/24");
      const [unreached, unreaching] = await Promise.all([ping("cnf-a", "10.70.0.3"), ping("cnf-c", "10.70.0.1")]);
      expect([unreached.status, unreaching.status]).toEqual([1, 1]);
    },
    240_000,
  );

  const skipPools = missing("a pool on two nodes", helm, () => missingBuild({ components: ["ipam-host-local"] }));
  test.skipIf(skipPools)(
    "pods of two nodes get addresses of one pool, and the blocks of a node that is removed are freed",
    async () => {
      importPlexus(cluster.nodes, "v1");
      const grants = { "ipam-host-local": { log: {}, leases: { pools: ["pooled"] }, resolver: {} } };
      await deployPlexus(
        cluster,
        "upgrade",
        "v1",
        "--install",
        "--set",
        "networks.enabled=true,pools.enabled=true",
        "--set-json",
        `wasm.grants=${JSON.stringify(grants)}`,
      );
      const ipam = { type: "ipam-host-local", pool: "pooled" };
      const list = { cniVersion: "1.0.0", name: "pooled", plugins: [{ type: "bridge", bridge: "br-pooled", ipam }] };
      const metadata = { name: "pooled" };
      await cluster.apply(
        {
          apiVersion: "plexus.dev/v1alpha1",
          kind: "AddressPool",
          metadata,
          spec: { ranges: [{ subnet: "10.50.0.0/16" }], freeAfterSeconds: 60 },
        },
        {
          apiVersion: "k8s.cni.cncf.io/v1",
          kind: "NetworkAttachmentDefinition",
          metadata: { ...metadata, namespace: "default" },
          spec: { config: JSON.stringify(list) },
        },
      );
      await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "addresspool/pooled");
      const annotations = { "k8s.v1.cni.cncf.io/networks": "pooled@pool0" };
      const pods = ["pooled-1", "pooled-2"];
      await cluster.apply(...pods.map((name, index) => toolsPod(name, { node: `node-${index + 1}`, annotations })));
      await cluster
        .succeed("wait", "--for=condition=Ready", "--timeout=120s", ...pods.map((name) => `pod/${name}`))
        .catch(async (error: unknown) => {
          throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
        });
      const addresses = await Promise.all(
        pods.map((pod) => cluster.succeed("exec", pod, "--", "ip", "-o", "-4", "address", "show", "dev", "pool0")),
      );
      const found = addresses.map((text) => /inet (10\.50\.\d+\.\d+)\/16/u.exec(text)?.[1] ?? text);
      expect(new Set(found).size).toBe(2);
      const nodesOfBlocks = async (): Promise<readonly string[]> =>
        (await cluster.succeed("get", "addressblocks", "-o", "jsonpath={.items[*].spec.node}")).split(" ").toSorted();
      expect(await nodesOfBlocks()).toEqual(["node-1", "node-2"]);

      await cluster.succeed("delete", "node", "node-2");
      const orphans = ["--all-namespaces", "--field-selector", "spec.nodeName=node-2", "--force", "--grace-period=0"];
      await cluster.succeed("delete", "pods", ...orphans);
      const marks = ["get", "addressblocks", "-o", "jsonpath={.items[*].status.orphanedSince}"];
      await expect.poll(() => cluster.succeed(...marks), { timeout: 60_000, interval: 500 }).not.toBe("");
      expect(await nodesOfBlocks()).toEqual(["node-1", "node-2"]);
      await expect.poll(nodesOfBlocks, { timeout: 100_000, interval: 1_000 }).toEqual(["node-1"]);
    },
    300_000,
  );
});

/** Two layer-2 networks that reach each node, as `eth1` and `eth2`. */
function layer2Networks(nodes: Cluster["nodes"]): void {
  for (const [index, link] of ["eth1", "eth2"].entries()) {
    const bridge = `l2${process.pid.toString(36)}x${index}`;
    inHost(["ip", "link", "add", bridge, "type", "bridge"]);
    inHost(["ip", "link", "set", bridge, "up"]);
    for (const node of nodes) node.addLink(link, bridge);
  }
}

const restarts = "jsonpath={.status.containerStatuses[0].restartCount}";

describe.skipIf(missingCluster("the end of a cluster"))("a cluster whose test is killed", () => {
  test("leaves no process", async () => {
    const child = spawn(
      process.execPath,
      [join(root, "test/lab/cluster/shell.ts"), "sh", "-c", "echo $KUBECONFIG; exec sleep 600"],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const kubeconfig = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString("utf8").trim()));
      child.once("close", () => reject(new Error("the cluster did not start")));
    });
    const directory = join(kubeconfig, "..");
    expect(processesNaming(directory).length).toBeGreaterThan(3);
    child.kill("SIGKILL");
    await expect.poll(() => processesNaming(directory)).toEqual([]);
    await removeCgroups(cgroupOf(join(directory, "node-1")));
    rmSync(directory, { recursive: true });
  });
});
