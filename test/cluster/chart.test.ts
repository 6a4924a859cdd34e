// The chart on a real cluster: installed, upgraded and removed by helm, while pods come and go.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { program } from "../e2e/containerd/programs.ts";
import { sandboxImage } from "../e2e/containerd/sandbox-image.ts";
import { root } from "../harness/compiled.ts";
import type { Cluster } from "../harness/cluster/cluster.ts";
import type { ClusterNode } from "../harness/cluster/node.ts";
import { importPlexus, plexusRepository } from "../harness/cluster/plexus-image.ts";
import { runtimeSocket } from "../harness/cluster/runtime.ts";
import { toolsPod } from "../harness/cluster/pods.ts";
import { clusterWithImage } from "../harness/cluster/ready-cluster.ts";
import { missingCluster } from "../harness/cluster/requirements.ts";
import { kubectlBinary } from "../harness/kube/binaries.ts";
import { helm, helmBinary } from "../harness/kube/helm.ts";
import { missingBuild } from "../harness/plexus.ts";
import { leases } from "../harness/namespaces.ts";

/** The image of the chart's default values, and that of deploy/example.yaml. */
const plexusImage = "docker.io/library/plexus";
const exampleImage = "registry.k8s.io/pause:3.10";
const chart = join(root, "deploy", "helm", "plexus");
const skip = missingCluster("the chart on a cluster", helm, () => missingBuild({ components: ["ipam-host-local"] }));

/** A pod that selects the network of deploy/example.yaml. */
const selecting = (name: string): object =>
  toolsPod(name, { annotations: { "k8s.v1.cni.cncf.io/networks": "kube-system/second@net1" } });

describe.skipIf(skip)("the chart on a real cluster", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  const tagImage = (from: string, to: string): void => {
    const { status, stderr } = node.run([
      program("ctr") ?? "ctr",
      "--address",
      runtimeSocket,
      "-n",
      "k8s.io",
      "images",
      "tag",
      from,
      to,
    ]);
    if (status !== 0) throw new Error(stderr);
  };
  beforeAll(async () => {
    cluster = await clusterWithImage();
    [node] = cluster.nodes;
    for (const tag of ["0.1.0", "next"]) {
      importPlexus(cluster.nodes, tag);
      tagImage(`${plexusRepository}:${tag}`, `${plexusImage}:${tag}`);
    }
    tagImage(sandboxImage, exampleImage);
    await cluster.apply(toolsPod("before"));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=60s", "pod/before");
  }, 300_000);
  afterAll(async () => {
    if (cluster === undefined) return;
    // The last pod with two networks outlived Plexus, and left its attachment.
    await cluster.kubectl("delete", "pods", "--all", "--timeout=60s");
    node.run(["sh", "-c", "rm -rf /var/lib/cni/plexus /var/lib/cni/networks/second; ip link delete plexus-second"]);
    await cluster.stop();
  });

  const release = async (command: string, tag: string, ...more: readonly string[]): Promise<void> => {
    const args = [
      command,
      "plexus",
      chart,
      "--namespace",
      "kube-system",
      "--wait",
      "--timeout",
      "120s",
      "--set",
      `image.tag=${tag}`,
      ...more,
    ];
    const { status, stderr } = await cluster.helm(...args);
    if (status !== 0) throw new Error(`helm ${command}: ${stderr}\n${await diagnosis()}`);
  };
  const diagnosis = async (): Promise<string> => {
    const pods = await cluster.kubectl("get", "events", "-A", "--field-selector=type!=Normal");
    const logs = ["install", "plexusd", "agent"].map((name) =>
      cluster.kubectl("-n", "kube-system", "logs", "-l", "app.kubernetes.io/name=plexus", "-c", name, "--tail=30"),
    );
    return [pods, ...(await Promise.all(logs))]
      .map(({ stdout, stderr }) => `${stdout}${stderr}`)
      .join("\n---\n")
      .slice(-12_000);
  };
  const ready = async (pod: string): Promise<void> => {
    const { status } = await cluster.kubectl("wait", "--for=condition=Ready", "--timeout=60s", `pod/${pod}`);
    if (status !== 0) throw new Error(`${pod} is not ready: ${await diagnosis()}`);
  };
  const statusOf = async (pod: string): Promise<readonly { readonly name: string; readonly interface: string }[]> => {
    const path = "jsonpath={.metadata.annotations.k8s\\.v1\\.cni\\.cncf\\.io/network-status}";
    return JSON.parse((await cluster.succeed("get", "pod", pod, "-o", path)) || "[]");
  };
  const ours = (): string => join(node.disk, "etc", "cni", "net.d", "00-plexus.conflist");

  test("is installed within a minute by the three commands of page and README as they stand, and gives new pods their networks", async () => {
    const page = readFileSync(join(root, "docs", "how-to", "install-on-a-cluster.md"), "utf8");
    const [, commands = ""] = /^```sh\n([\s\S]*?)^```$/mu.exec(page) ?? [];
    expect(commands.trim().split("\n")).toHaveLength(3);
    expect(readFileSync(join(root, "README.md"), "utf8")).toContain(commands);
    const programs = mkdtempSync(join(tmpdir(), "plexus-programs-"));
    onTestFinished(() => rmSync(programs, { recursive: true }));
    symlinkSync(helmBinary() ?? "", join(programs, "helm"));
    symlinkSync(kubectlBinary() ?? "", join(programs, "kubectl"));
    const env = { PATH: `${programs}:${process.env["PATH"]}`, HOME: programs, KUBECONFIG: cluster.kubeconfig };
    const begun = performance.now();
    const shell = spawn("sh", ["-e", "-c", commands], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    const [output, [status], stderr] = await Promise.all([text(shell.stdout), once(shell, "exit"), text(shell.stderr)]);
    if (status !== 0) throw new Error(`${stderr}\n${await diagnosis()}`);
    expect(performance.now() - begun).toBeLessThan(60_000);
    expect(JSON.parse(output.slice(output.lastIndexOf("\n[")))).toMatchObject([
      { name: "pods", interface: "eth0", default: true },
      { name: "kube-system/second", interface: "net1", ips: [expect.stringMatching(/^10\.20\.0\./u)] },
    ]);
    expect(JSON.parse(readFileSync(ours(), "utf8"))).toMatchObject({
      cniVersion: "1.0.0",
      plugins: [{ type: "plexus", clusterNetwork: "/etc/cni/net.d/10-bridge.conflist" }],
    });
    expect(await cluster.succeed("exec", "before", "--", "ip", "-o", "-4", "address", "show", "dev", "eth0")).toContain("eth0");
  });

  test("runs an agent with one capability, and a daemon that is ready", async () => {
    const status = ["-n", "kube-system", "exec", "daemonset/plexus", "-c", "plexusd", "--", "/opt/plexus/bin/node"];
    const { stdout } = await cluster.kubectl(...status, "/opt/plexus/plexusctl.cjs", "status", "-o", "json");
    const { daemon }: { readonly daemon: { readonly checks: readonly { readonly ok: boolean }[] } } = JSON.parse(stdout);
    expect(daemon.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(daemon.checks.length).toBeGreaterThan(3);
    const port = ["-n", "kube-system", "exec", "daemonset/plexus", "-c", "plexusd", "--", "/opt/plexus/bin/node", "--eval"];
    const read = "fetch('http://127.0.0.1:9464/metrics').then(async (answer) => process.stdout.write(await answer.text()))";
    await expect.poll(() => cluster.succeed(...port, read), { timeout: 20_000 }).toMatch(/^plexus_agents 1$/mu);
  });

  test("is upgraded while pods come and go, and no pod fails", async () => {
    const upgrading = { done: false };
    const upgrade = release("upgrade", "next").finally(() => (upgrading.done = true));
    // The loop below reports the failure.
    upgrade.catch(() => undefined);
    const names: string[] = [];
    for (let index = 0; index < 3 || !upgrading.done; index += 1) {
      const name = `during-${index}`;
      names.push(name);
      await cluster.apply(selecting(name));
      await ready(name);
      if (index % 2 === 1) await cluster.succeed("delete", "pod", name, "--timeout=60s");
    }
    await upgrade;
    for (const name of names.filter((_, index) => index % 2 === 0)) expect(await statusOf(name)).toHaveLength(2);
    const { items } = await cluster.core.listNamespacedEvent({
      namespace: "default",
      fieldSelector: "reason=FailedCreatePodSandBox",
    });
    expect(items.map(({ message }) => message)).toEqual([]);
    await cluster.succeed("delete", "pods", ...names, "--ignore-not-found", "--timeout=90s");
  }, 180_000);

  test("MO-26 waits at its removal for pods with further networks, and leaves a node whose next pod starts", async () => {
    const removal = cluster.helm("uninstall", "plexus", "--namespace", "kube-system", "--timeout", "200s");
    // While Plexus is retired, new pods get the default network only.
    await cluster.succeed("-n", "kube-system", "wait", "--for=create", "--timeout=30s", "daemonset/plexus-uninstall");
    const retired = (): boolean => existsSync(ours()) && readFileSync(ours(), "utf8").includes('"retired"');
    await expect.poll(retired, { timeout: 40_000 }).toBe(true);
    await cluster.succeed("delete", "pod", "two-networks", "--timeout=60s");
    expect(await removal).toMatchObject({ status: 0 });
    expect(existsSync(ours())).toBe(false);
    expect(leases(join(node.disk, "var", "lib", "cni", "networks")).filter((path) => path.includes("second"))).toEqual([]);
    await cluster.apply(toolsPod("after"));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=30s", "pod/after");
    const left = await cluster.succeed(
      "-n",
      "kube-system",
      "get",
      "daemonsets,jobs,serviceaccounts,roles,clusterroles",
      "-o",
      "name",
    );
    expect(left.split("\n").filter((name) => name.includes("/plexus"))).toEqual([]);
  }, 240_000);

  test("MO-26 is removed without a hook by deleting its objects, and the next pod starts", async () => {
    await release("install", "0.1.0");
    await cluster.apply(selecting("again"));
    await ready("again");
    const { status, stderr } = await cluster.helm(
      "uninstall",
      "plexus",
      "--namespace",
      "kube-system",
      "--no-hooks",
      "--wait",
      "--timeout",
      "90s",
    );
    expect({ status, stderr }).toMatchObject({ status: 0 });
    await expect.poll(() => existsSync(ours()), { timeout: 30_000 }).toBe(false);
    await cluster.apply(toolsPod("last"));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=30s", "pod/last");
  }, 180_000);
});
