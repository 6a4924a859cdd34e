// The Kubernetes API away for a while, rights that are taken away, and a service account that is deleted.
// PLEXUS_TEST_API_AWAY_SECONDS is how long the API is away (60).

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { program } from "../lab/containerd/programs.ts";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { connected, deletePods, eventsOf, readyPods, selectingPod, startPods } from "../lab/cluster/fault-pods.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { deployPlexus } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { runtimeSocket } from "../lab/cluster/runtime.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("the API away", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const within = { timeout: 120_000, interval: 500 };
const awaySeconds = Number(process.env["PLEXUS_TEST_API_AWAY_SECONDS"] ?? 60);

describe.skipIf(skip)("the Kubernetes API", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  beforeAll(async () => {
    cluster = await clusterWithPlexus();
    [node] = cluster.nodes;
  }, 240_000);
  afterAll(async () => cluster?.stop());

  const manifest = (name: string): string => join(node.disk, "etc", "kubernetes", "manifests", `${name}.json`);
  /** A pod that the kubelet starts from a file, also without an API server. */
  const writeStaticPod = (name: string): void => {
    mkdirSync(join(manifest(name), ".."), { recursive: true });
    writeFileSync(manifest(name), JSON.stringify(selectingPod(name)));
  };
  const ctr = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = node.run([program("ctr") ?? "ctr", "--address", runtimeSocket, "-n", "k8s.io", ...args]);
    if (status !== 0) throw new Error(`ctr ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  /** The ids of a pod's sandboxes. */
  const sandboxesOf = (pod: string): readonly string[] => {
    const filter = `labels."io.kubernetes.pod.name"==${pod},labels."io.cri-containerd.kind"==sandbox`;
    return ctr("containers", "ls", "-q", filter).split("\n").filter(Boolean);
  };
  const addressOf = async (pod: string): Promise<string> =>
    (await cluster.core.readNamespacedPod({ namespace: "default", name: pod })).status?.podIP ?? "";

  test(
    `is away for ${awaySeconds} s: running pods go on, deletions work, new sandboxes wait and then have networks and status`,
    async () => {
      const file = (name: string): string => `${name}-${node.name}`;
      writeStaticPod("file-old");
      await startPods(cluster, ["steady", "struck"]);
      await readyPods(cluster, [file("file-old")]);
      const [steady, struck] = [await addressOf("steady"), await addressOf("struck")];
      const [oldSandbox = ""] = sandboxesOf("struck");
      const ofOld = sandboxesOf(file("file-old"));
      expect(ofOld).toHaveLength(1);
      await cluster.stopApi();
      const stopped = performance.now();
      // A deletion that needs no API: the kubelet ends a pod whose file is gone.
      rmSync(manifest("file-old"));
      // A pod whose sandbox ends gets another one: a DEL and an ADD for a pod that the kubelet has in memory.
      ctr("tasks", "kill", "-s", "SIGKILL", oldSandbox);
      writeStaticPod("file-new");
      const leasesOf = (container: string): boolean => leftOn(node).state.some((path) => path.includes(container));
      await expect.poll(() => [oldSandbox, ...ofOld].filter(leasesOf), within).toEqual([]);
      process.stdout.write(`two DELs without the API were served within ${Math.round(performance.now() - stopped)} ms\n`);
      const reason = /plexus.*(?:ECONNREFUSED|API_UNREACHABLE|Kubernetes API|GET \/api\/v1\/namespaces\/default\/pods\/)/;
      await expect
        .poll(
          () =>
            node.kubelet
              .log()
              .split("\n")
              .filter((line) => line.includes("failed to setup network"))
              .at(-1) ?? "",
          within,
        )
        .toMatch(reason);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, awaySeconds * 1000 - (performance.now() - stopped))));
      expect(node.ping(steady)).toBe(true);
      await cluster.startApi();
      const back = performance.now();
      // Until the kubelet reports again, the API has the pod's state of before.
      const hasNewAddress = async (): Promise<boolean> => !["", struck].includes(await addressOf("struck"));
      await expect.poll(hasNewAddress, { ...within, timeout: 180_000 }).toBe(true);
      await readyPods(cluster, ["struck", file("file-new")], 180);
      process.stdout.write(
        `the API was away for ${Math.round((back - stopped) / 1000)} s; the waiting pods were ready ${Math.round(performance.now() - back)} ms later\n`,
      );
      await connected(cluster, "steady");
      await expect.poll(() => eventsOf(cluster, "struck", "FailedCreatePodSandBox"), within).toMatch(reason);
      await startPods(cluster, ["fresh"]);
      rmSync(manifest("file-new"));
      await deletePods(cluster, ["steady", "struck", "fresh"]);
      await expect.poll(() => leftOn(node), within).toEqual(nothingLeft);
    },
    600_000 + awaySeconds * 1000,
  );

  test("refuses the rights: new pods fail with HTTP 403 in their Event, deletions work, and waiting pods start when the rights are back", async () => {
    await startPods(cluster, ["steady", "victim"]);
    const binding = ["get", "clusterrolebinding", "plexus", "-o", "json"];
    const saved = await cluster.succeed(...binding);
    await cluster.succeed("delete", "clusterrolebinding/plexus");
    await cluster.apply(selectingPod("fresh"));
    await expect.poll(() => eventsOf(cluster, "fresh", "FailedCreatePodSandBox"), within).toMatch(/plexus.*HTTP 403/s);
    await deletePods(cluster, ["victim"]);
    await connected(cluster, "steady");
    const { resourceVersion: _version, uid: _uid, ...metadata } = JSON.parse(saved).metadata;
    await cluster.apply({ ...JSON.parse(saved), metadata });
    await readyPods(cluster, ["fresh"]);
    await deletePods(cluster, ["steady", "fresh"]);
    await expect.poll(() => leftOn(node), within).toEqual(nothingLeft);
  }, 300_000);

  test("refuses the token, because the service account is deleted: HTTP 401 in the Events, and pods start when it is restored", async () => {
    await startPods(cluster, ["steady", "victim"]);
    await cluster.succeed("-n", "kube-system", "delete", "serviceaccount/plexus");
    // The API server accepts a token that it has seen for 10 s more.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    await cluster.apply(selectingPod("fresh"));
    await expect.poll(() => eventsOf(cluster, "fresh", "FailedCreatePodSandBox"), within).toMatch(/plexus.*HTTP 401/s);
    await deletePods(cluster, ["victim"]);
    await connected(cluster, "steady");
    // helm makes the missing account. Tokens of the deleted one stay refused, so the pods are replaced: within one second, because a daemon
    // whose account is refused for three takes its configuration away, and a pod would then start without its further networks.
    await deployPlexus(cluster, "upgrade", "v1");
    await cluster.succeed("-n", "kube-system", "delete", "pods", "-l", "app.kubernetes.io/name=plexus", "--grace-period=1");
    await startPods(cluster, ["between"]);
    await cluster.succeed("-n", "kube-system", "rollout", "status", "daemonset/plexus", "--timeout=120s");
    await readyPods(cluster, ["fresh"]);
    await deletePods(cluster, ["steady", "fresh", "between"]);
    await expect.poll(() => leftOn(node), within).toEqual(nothingLeft);
  }, 400_000);
});
