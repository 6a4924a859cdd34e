// `helm uninstall` where something is in its way: interrupted, with pods that stay, without a running daemon; and a node that the DaemonSet no
// longer selects.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../lab/cluster/cluster.ts";
import { clusterWithImage } from "../lab/cluster/ready-cluster.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { deployPlexus, explained, rollBackPlexus } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { storage } from "../lab/cluster/storage.ts";
import { helm, helmBinary } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("helm uninstall on a cluster", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const plexusctl = ["/opt/plexus/bin/node", "/opt/plexus/plexusctl.cjs"];
const selection = { "k8s.v1.cni.cncf.io/networks": "storage@data0" };
const namespace = ["--namespace", "kube-system"];
/** Seconds that `helm uninstall` waits for pods. */
const waitSeconds = 30;

describe.skipIf(skip)("helm uninstall", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  beforeAll(async () => {
    cluster = await clusterWithImage();
    [node] = cluster.nodes;
  }, 240_000);
  afterAll(async () => cluster?.stop());

  const onDisk = (...path: readonly string[]): string => join(node.disk, ...path);
  const configuration = (): string => onDisk("etc", "cni", "net.d", "00-plexus.conflist");
  const isRetired = (): boolean => existsSync(configuration()) && readFileSync(configuration(), "utf8").includes('"retired"');
  const plugins = (): readonly string[] => readdirSync(onDisk("opt", "cni", "bin"));
  const deploy = (...more: readonly string[]): Promise<void> =>
    deployPlexus(cluster, "install", "v1", "--set", `uninstall.timeoutSeconds=${waitSeconds}`, ...more);
  /** Answers the milliseconds. */
  const uninstall = async (): Promise<number> => {
    const begun = performance.now();
    const { status, stderr } = await cluster.helm("uninstall", "plexus", ...namespace, "--wait", "--timeout", "120s");
    if (status !== 0) throw new Error(`${stderr}\n${await explained(cluster)}`);
    return performance.now() - begun;
  };
  /** Starts a pod and waits until it is ready. */
  const startPod = async (name: string, annotations = {}): Promise<void> => {
    await cluster.apply(toolsPod(name, { annotations }));
    await cluster.succeed("wait", "--for=condition=Ready", "--timeout=120s", `pod/${name}`).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await explained(cluster)}`, { cause: error });
    });
  };
  const linksOf = (pod: string): Promise<string> => cluster.succeed("exec", pod, "--", "ip", "-o", "link");
  const remove = (name: string): Promise<string> => cluster.succeed("delete", "pod", name, "--timeout=120s");

  test("that is interrupted is taken back by helm rollback: new pods get their networks again", async () => {
    await deploy();
    await cluster.apply(storage);
    await startPod("web", selection);
    const program = helmBinary() ?? "helm";
    const helmProcess = spawn(program, ["uninstall", "plexus", ...namespace, "--kubeconfig", cluster.kubeconfig], {
      stdio: "ignore",
      env: { PATH: process.env["PATH"], HOME: node.disk },
    });
    await expect.poll(isRetired).toBe(true);
    helmProcess.kill("SIGKILL");
    await once(helmProcess, "exit");
    expect(await cluster.succeed("-n", "kube-system", "get", "daemonsets", "-o", "name")).toContain("plexus-uninstall");
    const begun = performance.now();
    await rollBackPlexus(cluster, 1);
    expect(await cluster.succeed("-n", "kube-system", "get", "daemonsets", "-o", "name")).not.toContain("plexus-uninstall");
    await expect.poll(() => existsSync(configuration()) && !isRetired(), { timeout: 120_000, interval: 500 }).toBe(true);
    process.stdout.write(`in force again ${shown(performance.now() - begun)} after helm rollback began\n`);
    await startPod("back", selection);
    expect(await linksOf("back")).toContain("data0");
    await remove("back");
  }, 240_000);

  test("MO-26 whose wait for pods times out keeps the files; a pod that is deleted later leaves what the page says", async () => {
    process.stdout.write(`helm uninstall with a pod that stays: ${shown(await uninstall())}\n`);
    expect(existsSync(configuration())).toBe(false);
    expect(plugins()).toEqual(expect.arrayContaining(["plexus", ".plexus", "ipam-host-local.wasm"]));
    expect(existsSync(onDisk("opt", "plexus", "engine"))).toBe(true);
    await startPod("next");
    await remove("web");
    await remove("next");
    const left = leftOn(node);
    process.stdout.write(`left by a pod that was deleted after Plexus: ${JSON.stringify(left)}\n`);
    expect(left.links).toEqual([]);
    expect(left.leases).toEqual([expect.stringContaining("storage")]);
    expect(left.state.filter((path) => path.startsWith("journal/"))).toHaveLength(1);
    // The next installation has the state, and removes it.
    await deploy("--set", "daemon.reconcileGraceSeconds=1,daemon.reconcileIntervalSeconds=5");
    const reconcile = ["-n", "kube-system", "exec", "daemonset/plexus", "-c", "plexusd", "--", ...plexusctl, "reconcile"];
    await startPod("again", selection);
    // The agent sees a network namespace of the runtime now. A pod that comes and goes between two rounds shows it none.
    await cluster.succeed(...reconcile);
    await remove("again");
    const reconciled = async (): Promise<object> => {
      const now = leftOn(node);
      // The reconciler's own reasons, for a failed test.
      return now.state.length === 0 ? now : { ...now, reasons: (await cluster.kubectl(...reconcile)).stdout };
    };
    await expect.poll(reconciled, { timeout: 90_000, interval: 2_000 }).toEqual(nothingLeft);
  }, 1_800_000);

  test("removes shim, components and one-shot engine where no pod needs them; the state stays", async () => {
    await startPod("keep");
    process.stdout.write(`helm uninstall with a pod that has the default network only: ${shown(await uninstall())}\n`);
    expect(existsSync(configuration())).toBe(false);
    expect(plugins().filter((name) => name.includes("plexus") || name.endsWith(".wasm"))).toEqual([]);
    expect(plugins()).toEqual(expect.arrayContaining(["bridge", "host-local", "portmap"]));
    expect(existsSync(onDisk("opt", "plexus")) ? readdirSync(onDisk("opt", "plexus")) : []).toEqual([]);
    expect(existsSync(onDisk("var", "lib", "cni", "plexus"))).toBe(true);
    await remove("keep");
    expect(leftOn(node)).toMatchObject({ links: [], leases: [] });
  }, 240_000);

  test("removes the state, too, with uninstall.purgeState, and no lease of another plugin", async () => {
    await deploy("--set", "uninstall.purgeState=true");
    await startPod("plain");
    await startPod("web", selection);
    await remove("web");
    // Every kind of state is there to be removed: also the records of admitted components, which a daemon writes after its calls.
    const state = (): readonly string[] => readdirSync(onDisk("var", "lib", "cni", "plexus"));
    await expect.poll(state, { timeout: 60_000, interval: 500 }).toEqual(expect.arrayContaining(["admitted", "components"]));
    expect(readdirSync(onDisk("var", "lib", "cni", "plexus", "admitted"))).not.toEqual([]);
    await uninstall();
    expect(existsSync(onDisk("var", "lib", "cni", "plexus"))).toBe(false);
    expect(leftOn(node).leases).toEqual([expect.stringMatching(/^pods\//u)]);
    await remove("plain");
    expect(leftOn(node)).toEqual(nothingLeft);
  }, 240_000);

  test("MO-26 leaves no finalizer of plexus-controller: objects, and their definitions, can be deleted afterwards", async () => {
    await deploy("--set", "networks.enabled=true,pools.enabled=true,controller.replicas=1");
    const pool = { apiVersion: "plexus.dev/v1alpha1", kind: "AddressPool", metadata: { name: "storage" } };
    await cluster.apply({ ...pool, spec: { ranges: [{ subnet: "10.50.0.0/16" }] } });
    // An attachment is a user of its network.
    const attachment = { apiVersion: "plexus.dev/v1alpha1", kind: "PodNetworkAttachment", metadata: { name: "named" } };
    await cluster.apply({ ...attachment, spec: { podNetworkName: "default" } });
    const objects = ["addresspools,podnetworks", "-o", "jsonpath={.items[*].metadata.finalizers[*]}"];
    const finalizers = (): Promise<string> => cluster.succeed("get", ...objects);
    const held = async (): Promise<readonly string[]> => (await finalizers()).split(" ").toSorted();
    await expect.poll(held, { timeout: 60_000, interval: 500 }).toEqual(["plexus.dev/blocks", "plexus.dev/in-use"]);
    process.stdout.write(`helm uninstall with objects of plexus-controller: ${shown(await uninstall())}\n`);
    expect(await finalizers()).toBe("");
    const left = await cluster.succeed("get", "clusterroles,clusterrolebindings", "-o", "name");
    expect(left.split("\n").filter((name) => name.includes("plexus"))).toEqual([]);
    const definitions = ["podnetworks", "podnetworkattachments", "addresspools", "addressblocks", "addressreservations"];
    const crds = definitions.map((plural) => `${plural}.plexus.dev`);
    await cluster.succeed("delete", "crd", ...crds, "--wait", "--timeout=120s");
  }, 240_000);

  test("MO-26 of a daemon that crashes again and again leaves a node whose next pod starts", async () => {
    await deploy();
    const wrong = [{ op: "add", path: "/spec/template/spec/containers/0/args/-", value: "--no-such-option" }];
    await cluster.succeed("-n", "kube-system", "patch", "daemonset/plexus", "--type=json", "-p", JSON.stringify(wrong));
    const path = "jsonpath={.items[*].status.containerStatuses[*].state.waiting.reason}";
    const reasons = ["-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/name=plexus", "-o", path];
    await expect.poll(() => cluster.succeed(...reasons), { timeout: 60_000, interval: 500 }).toContain("CrashLoopBackOff");
    expect(existsSync(configuration())).toBe(true);
    process.stdout.write(`helm uninstall without a daemon: ${shown(await uninstall())}\n`);
    expect(existsSync(configuration())).toBe(false);
    await startPod("after-crash");
    await remove("after-crash");
    expect(leftOn(node)).toMatchObject({ links: [], leases: [] });
  }, 240_000);

  test("MO-26 a node that the DaemonSet's affinity no longer selects loses the configuration, and its next pod starts", async () => {
    await cluster.succeed("label", "node", node.name, "plexus=yes");
    const term = { matchExpressions: [{ key: "plexus", operator: "In", values: ["yes"] }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } };
    await deploy("--set-json", `affinity=${JSON.stringify(affinity)}`);
    expect(existsSync(configuration())).toBe(true);
    const begun = performance.now();
    await cluster.succeed("label", "node", node.name, "plexus-");
    await expect.poll(() => existsSync(configuration())).toBe(false);
    process.stdout.write(`configuration gone ${shown(performance.now() - begun)} after the label\n`);
    await startPod("unselected");
    await remove("unselected");
  }, 240_000);
});

function shown(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
