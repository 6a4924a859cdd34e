// A daemon that ends at each start, because of a setting that plexusd refuses and the chart's schema accepts.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../lab/cluster/cluster.ts";
import { clusterWithPlexus } from "../lab/cluster/ready-cluster.ts";
import { connected, deletePods, eventsOf, plexusPodOn, readyPods, selectingPod, startPods } from "../lab/cluster/fault-pods.ts";
import { leftOn, nothingLeft } from "../lab/cluster/left.ts";
import { breakPlexus, deployPlexus } from "../lab/cluster/release.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { helm } from "../lab/kube/helm.ts";
import { missingBuild } from "../lab/plexus.ts";

const skip = missingCluster("a daemon that crashes", helm, () => missingBuild({ components: ["ipam-host-local"] }));
const within = { timeout: 90_000, interval: 500 };
/** A URL that the schema's pattern accepts and that has no host. */
const refused = "daemon.otlp=http://[";

describe.skipIf(skip)("a daemon that ends at each start", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await clusterWithPlexus();
  }, 240_000);
  afterAll(async () => cluster?.stop());

  /** Breaks the release and waits until the daemon's container has ended. */
  const crash = async (oneShot: string): Promise<string> => {
    const [{ name: node }] = cluster.nodes;
    const before = await plexusPodOn(cluster, node);
    await breakPlexus(cluster, "v1", "--set", `oneShot=${oneShot},${refused}`);
    let pod = before;
    await expect.poll(async () => (pod = await plexusPodOn(cluster, node).catch(() => before)), within).not.toBe(before);
    await expect.poll(() => eventsOf(cluster, pod, "BackOff", "kube-system"), within).toContain("plexusd");
    expect(await cluster.succeed("-n", "kube-system", "logs", pod, "-c", "plexusd")).toContain(
      "plexusd: --otlp http://[: must be a URL",
    );
    return pod;
  };

  test("oneShot: node: new pods get their networks, running pods keep theirs, deletions work", async () => {
    const [node] = cluster.nodes;
    await startPods(cluster, ["steady", "victim"]);
    await crash("node");
    await startPods(cluster, ["fresh"]);
    await connected(cluster, "steady");
    const deletion = await deletePods(cluster, ["victim"]);
    process.stdout.write(`without a daemon, by one-shot engines: a pod was deleted in ${deletion} ms\n`);
    await deployPlexus(cluster, "upgrade", "v1");
    await startPods(cluster, ["healed"]);
    await deletePods(cluster, ["steady", "fresh", "healed"]);
    await expect.poll(() => leftOn(node), within).toEqual(nothingLeft);
  }, 300_000);

  test("oneShot: off: new pods and deletions wait, with Plexus' reason in their Events, and complete when the daemon is back", async () => {
    const [node] = cluster.nodes;
    await deployPlexus(cluster, "upgrade", "v1", "--set", "oneShot=off");
    await startPods(cluster, ["steady", "victim"]);
    await crash("off");
    await cluster.apply(selectingPod("fresh"));
    await cluster.succeed("delete", "pod/victim", "--wait=false");
    const reason = /no engine: waited \d+ s: no daemon listens on \/run\/plexus\/plexus\.sock/;
    await expect.poll(() => eventsOf(cluster, "fresh", "FailedCreatePodSandBox"), within).toMatch(reason);
    await expect.poll(() => eventsOf(cluster, "victim", "FailedKillPod"), within).toMatch(reason);
    // The deletion is not answered with a false success: the pod stays until its DEL was served.
    expect(await cluster.succeed("get", "pod", "victim", "-o", "jsonpath={.metadata.deletionTimestamp}")).not.toBe("");
    await connected(cluster, "steady");
    const started = performance.now();
    await deployPlexus(cluster, "upgrade", "v1", "--set", "oneShot=off");
    await readyPods(cluster, ["fresh"]);
    await cluster.succeed("wait", "--for=delete", "--timeout=120s", "pod/victim");
    process.stdout.write(
      `a waiting pod and a waiting deletion completed ${Math.round(performance.now() - started)} ms after the repair began\n`,
    );
    await deletePods(cluster, ["steady", "fresh"]);
    await expect.poll(() => leftOn(node), within).toEqual(nothingLeft);
  }, 420_000);
});
