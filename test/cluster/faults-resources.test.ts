// A node without space for Plexus' state, and a daemon that the kernel ends because its container has no memory left.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import type { Cluster } from "../lab/cluster/cluster.ts";
import { connected, deletePods, eventsOf, plexusPodOn, readyPods, selectingPod, startPods } from "../lab/cluster/fault-pods.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import type { ClusterNode } from "../lab/cluster/node.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("no disk space, no memory", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const within = { timeout: 90_000, interval: 500 };
/** Plexus' state. The runtime's own files stay on the node's disk: without space for those the runtime refuses a pod before Plexus is called. */
const stateDirectory = "/var/lib/cni/plexus";

describe.skipIf(skip)("a node of a cluster", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  beforeAll(async () => {
    cluster = await clusterWithPlexus();
    [node] = cluster.nodes;
  }, 240_000);
  afterAll(async () => cluster?.stop());

  /** Runs a shell script on the node and answers its output. */
  const onNode = (script: string): string => {
    const { status, stdout, stderr } = node.run(["sh", "-c", script]);
    if (status !== 0) throw new Error(`${script}: ${stderr}`);
    return stdout.trim();
  };
  /** Replaces Plexus' pods, whose containers see the file systems that are mounted now. */
  const replacePlexus = async (): Promise<void> => {
    await cluster.succeed("-n", "kube-system", "delete", "pods", "-l", "app.kubernetes.io/name=plexus", "--timeout=120s");
    await cluster.succeed("-n", "kube-system", "rollout", "status", "daemonset/plexus", "--timeout=120s");
  };
  const readiness = async (): Promise<string> => {
    const path = "jsonpath={.items[*].status.containerStatuses[?(@.name=='plexusd')].ready}";
    return cluster.succeed("-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/name=plexus", "-o", path);
  };

  test("has no space for Plexus' state: new pods fail with ENOSPC in their Events and wait, deletions work, and all is well once there is space", async () => {
    onNode(`mkdir -p ${stateDirectory} && mount -t tmpfs -o size=16m,mode=755 tmpfs ${stateDirectory}`);
    onTestFinished(async () => {
      onNode(`umount --lazy ${stateDirectory}`);
      await replacePlexus();
    });
    await replacePlexus();
    await startPods(cluster, ["steady", "victim"]);
    onNode(`cat /dev/zero >${stateDirectory}/fill 2>/dev/null || true`);
    await cluster.apply(selectingPod("fresh"));
    await expect.poll(() => eventsOf(cluster, "fresh", "FailedCreatePodSandBox"), within).toMatch(/plexus.*ENOSPC/s);
    await expect.poll(readiness, within).toBe("false");
    const pod = await plexusPodOn(cluster, node.name);
    await expect.poll(() => eventsOf(cluster, pod, "Unhealthy", "kube-system"), within).toContain("Readiness probe failed");
    await deletePods(cluster, ["victim"]);
    await connected(cluster, "steady");
    onNode(`rm ${stateDirectory}/fill`);
    const freed = performance.now();
    await readyPods(cluster, ["fresh"]);
    process.stdout.write(`a waiting pod was ready ${Math.round(performance.now() - freed)} ms after there was space\n`);
    await expect.poll(readiness, within).toBe("true");
    await deletePods(cluster, ["steady", "fresh"]);
    await expect.poll(() => leftOn(node, node.on("/var/lib/cni")), within).toEqual(nothingLeft);
  }, 300_000);

  /** The daemon's process on the node. */
  const daemonPid = (): number =>
    Number(
      onNode(`for each in /proc/[0-9]*; do
        if tr '\\0' ' ' <$each/cmdline 2>/dev/null | grep -q ' /opt/plexus/plexusd.cjs '; then echo \${each#/proc/}; fi
      done | sort -n | head -n 1`),
    );
  /** The daemon's restarts, and why its last container ended. */
  const daemon = async (): Promise<{ readonly restarts: number; readonly reason: string | undefined }> => {
    const name = await plexusPodOn(cluster, node.name);
    const { status } = await cluster.core.readNamespacedPod({ namespace: "kube-system", name });
    const state = status?.containerStatuses?.find((each) => each.name === "plexusd");
    return { restarts: state?.restartCount ?? 0, reason: (state?.lastState ?? state?.state)?.terminated?.reason };
  };
  /** Uses up the memory of the daemon's container. The kernel then ends the process with the highest score. */
  const exhaustMemory = async (): Promise<void> => {
    const pod = await plexusPodOn(cluster, node.name);
    onNode(`echo 1000 >/proc/${daemonPid()}/oom_score_adj`);
    const allocate = "const all = []; for (;;) all.push(Buffer.alloc(16 << 20, 1));";
    const inDaemon = ["-n", "kube-system", "exec", pod, "-c", "plexusd", "--", "/opt/plexus/bin/node"];
    expect((await cluster.kubectl(...inDaemon, "--eval", allocate)).status).not.toBe(0);
  };

  test("ends a daemon that has no memory left: pods that start meanwhile get their networks, deletions work, and the next daemon goes on", async () => {
    await startPods(cluster, ["steady", "victim"]);
    const { restarts } = await daemon();
    // The second end is followed by the kubelet's first back-off, in which one-shot engines serve the calls.
    for (const count of [1, 2]) {
      const names = [0, 1, 2].map((index) => `during-${count}-${index}`);
      const starting = startPods(cluster, names);
      // The failure is that of the wait below.
      starting.catch(() => undefined);
      await exhaustMemory();
      await starting;
      await expect.poll(daemon, within).toEqual({ restarts: restarts + count, reason: "OOMKilled" });
      await connected(cluster, "steady");
      await deletePods(cluster, count === 1 ? [...names, "victim"] : names);
    }
    const pod = await plexusPodOn(cluster, node.name);
    await expect.poll(() => eventsOf(cluster, pod, "BackOff", "kube-system"), within).toContain("plexusd");
    await expect.poll(readiness, within).toBe("true");
    await startPods(cluster, ["after"]);
    await deletePods(cluster, ["steady", "after"]);
    await expect.poll(() => leftOn(node), within).toEqual(nothingLeft);
  }, 300_000);
});
