// The chart on a real cluster: installed, upgraded and removed by helm, while pods come and go; then the rendered file and a namespace, by kubectl.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { program } from "../lab/containerd/programs.ts";
import { sandboxImage } from "../lab/containerd/sandbox-image.ts";
import { root } from "../lab/compiled.ts";
import type { Cluster } from "../lab/cluster/cluster.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { leftOn } from "../lab/cluster/left.ts";
import { importPlexus, plexusRepository } from "../lab/cluster/plexus-image.ts";
import { runtimeSocket } from "../lab/cluster/runtime.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithImage } from "../lab/cluster/ready-cluster.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { kubectlBinary } from "../lab/kube/binaries.ts";
import { helm, helmBinary } from "../lab/kube/helm.ts";
import { pageBlock } from "../lab/page-block.ts";
import { missingBuild } from "../lab/plexus.ts";
import { leases } from "../lab/namespaces.ts";

/** The image of the chart's default values, and that of deploy/example.yaml. */
const plexusImage = "docker.io/library/plexus";
const exampleImage = "registry.k8s.io/pause:3.10";
const chart = join(root, "deploy", "helm", "plexus");
const page = "install-on-a-cluster.md";
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
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/before");
  }, 1_800_000);
  afterAll(async () => {
    if (cluster === undefined) return;
    // The last pod with two networks outlived Plexus, and left its attachment.
    await cluster.kubectl("delete", "pods", "--all", "--timeout=120s");
    node.run(["sh", "-c", "rm -rf /var/lib/cni/plexus /var/lib/cni/networks/second; ip link delete plexus-second"]);
    await cluster.stop();
  });

  const release = async (command: string, tag: string, namespace: string, ...more: readonly string[]): Promise<void> => {
    const args = [
      command,
      "plexus",
      chart,
      "--namespace",
      namespace,
      "--wait",
      "--timeout",
      "120s",
      "--set",
      `image.tag=${tag}`,
      ...more,
    ];
    const { status, stderr } = await cluster.helm(...args);
    if (status !== 0) throw new Error(`helm ${command}: ${stderr}\n${await diagnosis(namespace)}`);
  };
  const diagnosis = async (namespace = "kube-system"): Promise<string> => {
    const pods = await cluster.kubectl("get", "events", "-A", "--field-selector=type!=Normal");
    const logs = ["install", "plexusd", "agent"].map((name) =>
      cluster.kubectl("-n", namespace, "logs", "-l", "app.kubernetes.io/name=plexus", "-c", name, "--tail=30"),
    );
    return [pods, ...(await Promise.all(logs))]
      .map(({ stdout, stderr }) => `${stdout}${stderr}`)
      .join("\n---\n")
      .slice(-12_000);
  };
  const ready = async (pod: string): Promise<void> => {
    const { status } = await cluster.kubectl("wait", "--for=condition=Ready", "--timeout=120s", `pod/${pod}`);
    if (status !== 0) throw new Error(`${pod} is not ready: ${await diagnosis()}`);
  };
  const statusOf = async (pod: string): Promise<readonly { readonly name: string; readonly interface: string }[]> => {
    const path = "jsonpath={.metadata.annotations.k8s\\.v1\\.cni\\.cncf\\.io/network-status}";
    return JSON.parse((await cluster.succeed("get", "pod", pod, "-o", path)) || "[]");
  };
  /** Runs commands of a page in a directory, with helm and kubectl on PATH. Answers stdout; throws with stderr and a diagnosis. */
  const runCommands = async (commands: string, cwd = root): Promise<string> => {
    const programs = mkdtempSync(join(tmpdir(), "plexus-programs-"));
    onTestFinished(() => rmSync(programs, { recursive: true }));
    symlinkSync(helmBinary() ?? "", join(programs, "helm"));
    symlinkSync(kubectlBinary() ?? "", join(programs, "kubectl"));
    const env = { PATH: `${programs}:${process.env["PATH"]}`, HOME: programs, KUBECONFIG: cluster.kubeconfig };
    const shell = spawn("sh", ["-e", "-c", commands], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const [output, [status], stderr] = await Promise.all([text(shell.stdout), once(shell, "exit"), text(shell.stderr)]);
    if (status !== 0) throw new Error(`${commands}: ${stderr}\n${await diagnosis()}`);
    return output;
  };
  const ours = (): string => join(node.disk, "etc", "cni", "net.d", "00-plexus.conflist");

  test("is installed by the three commands of page and README as they stand, and gives new pods their networks", async () => {
    const commands = pageBlock(page, "sh", "helm install");
    expect(commands.trim().split("\n")).toHaveLength(3);
    expect(readFileSync(join(root, "README.md"), "utf8")).toContain(commands);
    const output = await runCommands(commands);
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
    await expect.poll(() => cluster.succeed(...port, read)).toMatch(/^plexus_agents 1$/mu);
  });

  test("E-20: doctor in the daemon's container has no right to try the kernel, and names the command that tries it on the node", async () => {
    type Checks = {
      readonly checks: readonly {
        readonly name: string;
        readonly found: string;
        readonly finding: { readonly remedy: string };
      }[];
    };
    const kernel = (document: string) => (JSON.parse(document) as Checks).checks.filter(({ name }) => name.startsWith("kernel-"));
    const inDaemon = ["-n", "kube-system", "exec", "daemonset/plexus", "-c", "plexusd", "--", "/opt/plexus/bin/node"];
    const { stdout } = await cluster.kubectl(...inDaemon, "/opt/plexus/plexusctl.cjs", "doctor", "-o", "json");
    const untried = kernel(stdout);
    expect(untried.map(({ name }) => name)).toEqual(expect.arrayContaining(["kernel-veth", "kernel-bridge"]));
    for (const { found } of untried) expect(found).toMatch(/^not tried for network.*a network namespace is refused/u);
    const [remedy = "", ...others] = new Set(untried.map(({ finding }) => finding.remedy));
    expect(others).toEqual([]);
    const [, command = ""] = new RegExp(`^Run as root on node ${node.name}: (.*)$`, "u").exec(remedy) ?? [];
    const tried = node.run(["/bin/sh", "-c", `${command} -o json`]);
    expect(kernel(tried.stdout)).toEqual(
      untried.map(({ name }) => ({ name, found: expect.stringMatching(/^works; needed by network/u), finding: null })),
    );
  });

  test("is upgraded while pods come and go, and no pod fails", async () => {
    const upgrading = { done: false };
    const upgrade = release("upgrade", "next", "kube-system").finally(() => (upgrading.done = true));
    // The loop below reports the failure.
    upgrade.catch(() => undefined);
    const names: string[] = [];
    for (let index = 0; index < 3 || !upgrading.done; index += 1) {
      const name = `during-${index}`;
      names.push(name);
      await cluster.apply(selecting(name));
      await ready(name);
      if (index % 2 === 1) await cluster.succeed("delete", "pod", name, "--timeout=120s");
    }
    await upgrade;
    for (const name of names.filter((_, index) => index % 2 === 0)) expect(await statusOf(name)).toHaveLength(2);
    const { items } = await cluster.core.listNamespacedEvent({
      namespace: "default",
      fieldSelector: "reason=FailedCreatePodSandBox",
    });
    expect(items.map(({ message }) => message)).toEqual([]);
    await cluster.succeed("delete", "pods", ...names, "--ignore-not-found", "--timeout=120s");
  });

  test("MO-26 waits at its removal for pods with further networks, and leaves a node whose next pod starts", async () => {
    const removal = cluster.helm("uninstall", "plexus", "--namespace", "kube-system", "--timeout", "200s");
    // While Plexus is retired, new pods get the default network only.
    await cluster.succeed("-n", "kube-system", "wait", "--for=create", "--timeout=120s", "daemonset/plexus-uninstall");
    const retired = (): boolean => existsSync(ours()) && readFileSync(ours(), "utf8").includes('"retired"');
    await expect.poll(retired).toBe(true);
    await cluster.succeed("delete", "pod", "two-networks", "--timeout=120s");
    expect(await removal).toMatchObject({ status: 0 });
    expect(existsSync(ours())).toBe(false);
    expect(leases(join(node.disk, "var", "lib", "cni", "networks")).filter((path) => path.includes("second"))).toEqual([]);
    await cluster.apply(toolsPod("after"));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", "pod/after");
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

  /** Starts a pod, and expects that it gets ready with the default network only. */
  const starts = async (pod: string): Promise<void> => {
    await cluster.apply(toolsPod(pod));
    await ready(pod);
    expect(await cluster.succeed("exec", pod, "--", "ip", "-o", "link")).not.toContain("net1");
  };
  /** Links and leases of the default network. Leases of further networks stay with a pod that outlives Plexus, as the page says. */
  const onDefaultNetwork = (): object => {
    const { links, leases: reserved } = leftOn(node);
    return {
      links: links.filter((name) => name !== "plexus-second"),
      leases: reserved.filter((path) => !path.includes("second")),
    };
  };
  /** Removes Plexus without a hook while a pod with two networks runs, and expects a node that serves pods as before. */
  const removedWithoutHook = async (name: string, remove: () => Promise<unknown>): Promise<void> => {
    const before = onDefaultNetwork();
    const [definition = ""] = readFileSync(join(root, "deploy", "example.yaml"), "utf8").split("\n---\n");
    await cluster.apply(definition, selecting(name));
    await ready(name);
    expect(await statusOf(name)).toMatchObject([{ interface: "eth0" }, { interface: "net1" }]);
    expect(readFileSync(ours(), "utf8")).toContain('"plexus"');
    await remove();
    await starts(`${name}-next`);
    await expect.poll(() => readdirSync(join(node.disk, "etc", "cni", "net.d"))).toEqual(["10-bridge.conflist"]);
    await starts(`${name}-later`);
    await cluster.succeed("delete", "pods", name, `${name}-next`, `${name}-later`, "--grace-period=1", "--timeout=120s");
    await expect.poll(onDefaultNetwork).toEqual(before);
  };

  test("MO-26 the rendered file gives pods their networks, also by kustomize; kubectl delete -f leaves a node whose next pod starts", async () => {
    await runCommands(pageBlock(page, "sh", "deploy/plexus.yaml"));
    const directory = mkdtempSync(join(tmpdir(), "plexus-kustomization-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const kustomization = pageBlock(page, "yaml", "images:")
      .replace("plexus/deploy", relative(directory, join(root, "deploy")))
      .replace("REGISTRY/plexus", plexusRepository)
      .replace("newTag: 0.1.0", "newTag: next");
    writeFileSync(join(directory, "kustomization.yaml"), kustomization);
    await cluster.succeed("apply", "--server-side", "-k", directory);
    await cluster.succeed("-n", "kube-system", "rollout", "status", "daemonset/plexus", "--timeout=120s");
    const images = "jsonpath={.items[*].spec['containers','initContainers'][*].image}";
    const run = await cluster.succeed("-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/name=plexus", "-o", images);
    expect(new Set(run.split(" "))).toEqual(new Set([`${plexusRepository}:next`]));
    const deletion = ["delete", "-f", join(root, "deploy", "plexus.yaml")];
    const labelled = await cluster.succeed(...deletion, "-l", "app.kubernetes.io/name=plexus", "--dry-run=server", "-o", "name");
    expect(labelled).toContain("daemonset.apps/plexus");
    expect(labelled).not.toContain("customresourcedefinition");
    await removedWithoutHook("rendered", () => cluster.succeed(...deletion, "--timeout=120s"));
  }, 240_000);

  test("MO-26 the deletion of its namespace leaves a node whose next pod starts", async () => {
    const namespace = "plexus-system";
    await release("install", "0.1.0", namespace, "--create-namespace", "--set", "ready.wait=false");
    await cluster.succeed("-n", namespace, "rollout", "status", "daemonset/plexus", "--timeout=120s");
    // The next pod starts while the namespace is being deleted.
    await removedWithoutHook("in-namespace", () => cluster.succeed("delete", "namespace", namespace, "--wait=false"));
    await cluster.succeed("-n", namespace, "wait", "--for=delete", "pods", "--all", "--timeout=120s");
    await runCommands(pageBlock(page, "sh", "kubectl delete clusterroles"));
    const kinds = "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings";
    const left = await cluster.succeed("get", kinds, "-o", "name");
    expect(left.split("\n").filter((name) => name.includes("plexus"))).toEqual([]);
  }, 240_000);
});
