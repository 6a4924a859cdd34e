// The tests' own cluster: two nodes, a node's reboot, the end of every process.

import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { processesNaming } from "../e2e/processes.ts";
import { removeCgroups } from "../harness/cluster/cgroups.ts";
import { type Cluster, startCluster } from "../harness/cluster/cluster.ts";
import { cgroupOf } from "../harness/cluster/machine.ts";
import { toolsPod } from "../harness/cluster/pods.ts";
import { missingCluster } from "../harness/cluster/requirements.ts";
import { root } from "../harness/compiled.ts";

describe.skipIf(missingCluster("two nodes"))("a cluster with two nodes", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 2 });
    for (const node of cluster.nodes) node.installNetwork();
    await cluster.nodesReady();
  }, 180_000);
  afterAll(async () => cluster?.stop());

  const addressOf = (pod: string): Promise<string> => cluster.succeed("get", "pod", pod, "-o", "jsonpath={.status.podIP}");

  test("pods of both nodes reach each other and the service kubernetes", async () => {
    await cluster.apply(toolsPod("one", { node: "node-1" }), toolsPod("two", { node: "node-2" }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=60s", "pod/one", "pod/two");
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
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=60s", "pod/one");
    await cluster.succeed("exec", "one", "--", "ping", "-c", "1", "-W", "2", await addressOf("two"));
  });
});

const restarts = "jsonpath={.status.containerStatuses[0].restartCount}";

describe.skipIf(missingCluster("the end of a cluster"))("a cluster whose test is killed", () => {
  test("leaves no process", async () => {
    const child = spawn(
      process.execPath,
      [join(root, "test/harness/cluster/shell.ts"), "sh", "-c", "echo $KUBECONFIG; exec sleep 600"],
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
    await expect.poll(() => processesNaming(directory), { timeout: 20_000 }).toEqual([]);
    await removeCgroups(cgroupOf(join(directory, "node-1")));
    rmSync(directory, { recursive: true });
  });
});
