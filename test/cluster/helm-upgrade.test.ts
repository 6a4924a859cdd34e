// `helm upgrade` and `helm rollback` while pods come and go, and a node's reboot.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ApiException } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../lab/cluster/cluster.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { importPlexus } from "../lab/cluster/plexus-image.ts";
import { toolsDeployment, toolsPod } from "../lab/cluster/pods.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { deployPlexus, rollBackPlexus } from "../lab/cluster/release.ts";
import { storageWith } from "../lab/cluster/storage.ts";
import { sandboxTimes } from "../lab/cluster/sandbox-times.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../lab/recorder.ts";

const skip = missingCluster("helm upgrade on a cluster", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const selection = { "k8s.v1.cni.cncf.io/networks": "storage@data0" };
/** Pods at once, and the least number of pods that come and go during a change. */
const width = 5;
const least = 50;

describe.skipIf(skip)("a cluster with Plexus by helm", () => {
  let cluster: Cluster;
  /** The last plugin of the further network: its log has every ADD and DEL that an engine carried out. */
  let recorder: RecorderPlugin;
  beforeAll(async () => {
    cluster = await clusterWithPlexus();
    importPlexus(cluster.nodes, "v2");
    const [node] = cluster.nodes;
    recorder = installRecorder(join(node.disk, "opt", "cni", "bin"), "recorder");
    await cluster.apply(storageWith("ipam-host-local", { type: "recorder" }));
  }, 240_000);
  afterAll(async () => cluster?.stop());

  /**
   * Lets a pod come and go. Answers the milliseconds until it was ready, with both networks. The API's client sends the requests: kubectl takes a tenth of a
   * second of CPU time for each of four requests, and there are a hundred pods.
   */
  const comeAndGo = async (name: string): Promise<number> => {
    const [node] = cluster.nodes;
    const namespaced = { name, namespace: "default" };
    const started = performance.now();
    await cluster.objects.create(toolsPod(name, { annotations: selection, spec: { terminationGracePeriodSeconds: 1 } }));
    await expect.poll(() => isReady(cluster, name), { interval: 250, message: `${name} is ready` }).toBe(true);
    const ms = performance.now() - started;
    expect(linksOf(node, recorder, name)).toContain("data0");
    await cluster.core.deleteNamespacedPod(namespaced);
    const isThere = (): Promise<boolean> => cluster.core.readNamespacedPod(namespaced).then(() => true, isNotGone);
    await expect.poll(isThere, { interval: 250, message: `${name} is there` }).toBe(false);
    return ms;
  };

  /** Pods come and go until `change` has ended, `least` at least. Answers their milliseconds until they were ready. */
  const under = async (prefix: string, change: () => Promise<void>): Promise<readonly number[]> => {
    const times: number[] = [];
    let begun = 0;
    const state = { changed: false };
    const worker = async (): Promise<void> => {
      while (begun < least || !state.changed) times.push(await comeAndGo(`${prefix}-${begun++}`));
    };
    const changing = change().finally(() => {
      state.changed = true;
    });
    await Promise.all([changing, ...Array.from({ length: width }, worker)]);
    return times;
  };

  const failures = async (): Promise<string> =>
    cluster.succeed(
      "get",
      "events",
      "-A",
      "--field-selector=reason=FailedCreatePodSandBox",
      "-o",
      "jsonpath={.items[*].message}",
    );
  /** How often each attachment's verb was carried out, by container and interface. */
  const served = (verb: string): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>();
    for (const { env } of recorder.calls()) {
      if (env["CNI_COMMAND"] !== verb) continue;
      const attachment = `${env["CNI_CONTAINERID"]} ${env["CNI_IFNAME"]}`;
      counts.set(attachment, (counts.get(attachment) ?? 0) + 1);
    }
    return counts;
  };
  /** The pods whose status was written, one entry for each successful request. */
  const publications = (): readonly string[] =>
    cluster
      .audit("system:serviceaccount:kube-system:plexus")
      .filter(({ verb, resource, code }) => verb === "patch" && resource === "pods/status" && code === 200)
      .map(({ name }) => name);

  test.each(["upgrade", "rollback"])(
    "a helm %s fails no pod, no call is answered twice, and nothing is left",
    async (kind) => {
      const [node] = cluster.nodes;
      const change = kind === "upgrade" ? () => deployPlexus(cluster, "upgrade", "v2") : () => rollBackPlexus(cluster);
      recorder.clear();
      const times = await under(kind, change);
      const calls = sandboxTimes(node.containerd.log(), `${kind}-`);
      process.stdout.write(`during the ${kind}: ${shown(times)} ms\n`);
      process.stdout.write(`RunPodSandbox took ${spread(calls.run)} ms, StopPodSandbox took ${spread(calls.stop)} ms\n`);
      expect(calls.run).toHaveLength(times.length);
      expect(await failures()).toBe("");
      await expect.poll(() => leftOn(node)).toEqual(nothingLeft);
      const [added, deleted] = [served("ADD"), served("DEL")];
      expect(added.size).toBe(times.length);
      expect(moreThanOnce(added)).toEqual([]);
      expect(moreThanOnce(deleted)).toEqual([]);
      expect([...deleted.keys()].toSorted()).toEqual([...added.keys()].toSorted());
      const published = publications().filter((name) => name.startsWith(`${kind}-`));
      expect(published).toHaveLength(times.length);
      expect(new Set(published).size).toBe(times.length);
    },
    300_000,
  );

  test("a change of config alone reaches each node before helm upgrade --wait has ended, so the first pod that follows has it", async () => {
    const [node] = cluster.nodes;
    const directory = join(node.disk, "etc", "cni", "net.d");
    const written = (): string =>
      readdirSync(directory)
        .map((name) => readFileSync(join(directory, name), "utf8"))
        .join("\n");
    expect(written()).not.toContain("54321");
    await deployPlexus(cluster, "upgrade", "v1", "--set", "config.stepTimeoutMs=54321");
    expect(written()).toMatch(/"stepTimeoutMs": ?54321/u);
    await comeAndGo("follows");
  }, 300_000);

  test("after a node's reboot its pods have their networks again, and no address is reserved that no pod has", async () => {
    const [node] = cluster.nodes;
    await cluster.apply(toolsDeployment("web", 3, { annotations: selection }));
    await cluster.succeed("rollout", "status", "deployment/web", "--timeout=300s");
    await node.reboot();
    const restarts = ["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].status.containerStatuses[0].restartCount}"];
    await expect.poll(() => cluster.succeed(...restarts), { timeout: 300_000, interval: 500 }).toBe("1 1 1");
    const { items } = await cluster.core.listNamespacedPod({ namespace: "default", labelSelector: "app=web" });
    for (const { metadata } of items)
      await cluster.succeed("exec", metadata?.name ?? "", "--", "ip", "link", "show", "dev", "data0");
    // Three pods with two networks each.
    expect(leftOn(node).leases).toHaveLength(6);
    await cluster.succeed("delete", "deployment/web", "--cascade=foreground", "--timeout=300s");
    await expect.poll(() => leftOn(node)).toEqual(nothingLeft);
  }, 1_800_000);
});

async function isReady(cluster: Cluster, name: string): Promise<boolean> {
  const { status } = await cluster.core.readNamespacedPod({ name, namespace: "default" });
  return status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
}

/** False for the API's answer that the object does not exist; throws every other error. */
function isNotGone(error: unknown): boolean {
  if (error instanceof ApiException && error.code === 404) return false;
  throw error;
}

/** The names of the links in a pod's network namespace, which the recorder's ADD for the pod names. */
function linksOf(node: ClusterNode, recorder: RecorderPlugin, pod: string): readonly string[] {
  const added = recorder.calls().find(({ env }) => {
    return env["CNI_COMMAND"] === "ADD" && (env["CNI_ARGS"] ?? "").split(";").includes(`K8S_POD_NAME=${pod}`);
  });
  const { stdout } = node.run(["nsenter", `--net=${added?.env["CNI_NETNS"]}`, "--", "ip", "-j", "link", "show"]);
  return (JSON.parse(stdout) as readonly { readonly ifname: string }[]).map(({ ifname }) => ifname);
}

const moreThanOnce = (counts: ReadonlyMap<string, number>) => [...counts].filter(([, count]) => count > 1);

const shown = (times: readonly number[]): string => `${times.length} pods were ready after ${spread(times)}`;

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return `${at(0.5)} (median), ${at(1)} (most)`;
}
