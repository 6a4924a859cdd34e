// Plexus and Multus on one cluster: an upgrade under load, and the way back to a node without them. By choice: PLEXUS_COMPARISON=print prints the
// figures; with PLEXUS_COMPARISON=write they also go into docs/reference/comparison.json, from which `npm run docs` makes the page.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Comparison, comparisonPath, type Measured } from "../../scripts/comparison-page.ts";
import { everyMultus } from "../lab/multus/multus-binary.ts";
import { root } from "../lab/compiled.ts";
import { type Cluster, startCluster } from "../lab/cluster/cluster.ts";
import { type ClusterNode, linkNames } from "../lab/cluster/node.ts";
import { toolsPod } from "../lab/cluster/pods.ts";
import { missingCluster } from "../lab/cluster/requirements.ts";
import { storageWith } from "../lab/cluster/storage.ts";
import { helm } from "../lab/kube/helm.ts";
import { leases } from "../lab/namespaces.ts";
import { missingBuild } from "../lab/plexus.ts";
import { contenders } from "./contenders.ts";

const skip = missingCluster(
  "comparing with Multus",
  () =>
    process.env["PLEXUS_COMPARISON"] === undefined
      ? "it measures for three minutes; set PLEXUS_COMPARISON=print, or =write"
      : undefined,
  helm,
  everyMultus,
  () => missingBuild({ components: ["ipam-host-local"] }),
);
/** Pods at once, and the least number of pods that come and go during an upgrade. */
const width = 5;
const least = 20;
const selection = { "k8s.v1.cni.cncf.io/networks": "storage@data0" };

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

interface PodLife {
  /** Milliseconds until the pod was ready; undefined after a minute. */
  readonly readyMs: number | undefined;
  readonly hasNetwork: boolean;
}

describe.skipIf(skip)("Plexus and Multus on one cluster", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  const figures = new Map<string, Measured>();
  beforeAll(async () => {
    cluster = await startCluster();
    [node] = cluster.nodes;
    node.installNetwork();
    for (const { prepare } of contenders) prepare(cluster);
    await cluster.nodesReady();
  }, 240_000);
  afterAll(async () => cluster?.stop());

  async function comeAndGo(name: string, annotations: Readonly<Record<string, string>>): Promise<PodLife> {
    const started = performance.now();
    await cluster.apply(toolsPod(name, { annotations, spec: { terminationGracePeriodSeconds: 1 } }));
    const { status } = await cluster.kubectl("wait", "--for=condition=Ready", "--timeout=60s", `pod/${name}`);
    const readyMs = status === 0 ? performance.now() - started : undefined;
    const shown = await cluster.kubectl("exec", name, "--", "ip", "link", "show", "dev", "data0");
    await cluster.succeed("delete", `pod/${name}`, "--timeout=120s");
    return { readyMs, hasNetwork: shown.status === 0 };
  }

  /** The number of pods whose names begin so and whose sandbox failed at least once. */
  async function failedSandboxes(prefix: string): Promise<number> {
    const { items } = await cluster.core.listEventForAllNamespaces({ fieldSelector: "reason=FailedCreatePodSandBox" });
    const names = items.map(({ involvedObject }) => involvedObject.name ?? "");
    return new Set(names.filter((each) => each.startsWith(prefix))).size;
  }

  /** Links and addresses of pods on the node. */
  const left = (): readonly string[] => [
    ...linkNames(node).filter((name) => name.startsWith("veth")),
    ...leases(join(node.disk, "var", "lib", "cni", "networks")),
  ];

  /** The number of links and addresses that were not there before, after at most 20 seconds for the last DELs. */
  async function leftSince(before: readonly string[]): Promise<number> {
    const deadline = performance.now() + 20_000;
    for (;;) {
      const count = left().filter((each) => !before.includes(each)).length;
      if (count === 0 || performance.now() > deadline) return count;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  test.each(contenders)(
    "$name: installed, upgraded under load, removed",
    async ({ name, install, upgrade, uninstall, imageMiB }) => {
      const before = left();
      const installing = performance.now();
      await install(cluster);
      await cluster.apply(storageWith("host-local"));
      const installed = performance.now() - installing;
      const first = await comeAndGo(`${name}-first`, selection);
      expect(first).toMatchObject({ hasNetwork: true });

      const state = { changed: false, begun: 0 };
      const pods: PodLife[] = [];
      const changing = upgrade(cluster).finally(() => {
        state.changed = true;
      });
      const worker = async (): Promise<void> => {
        while (state.begun < least || !state.changed) pods.push(await comeAndGo(`${name}-pod-${state.begun++}`, selection));
      };
      await Promise.all([changing, ...Array.from({ length: width }, worker)]);
      const times = pods.flatMap(({ readyMs }) => readyMs ?? []).toSorted((a, b) => a - b);
      const leftByPods = await leftSince(before);

      const removing = performance.now();
      await uninstall(cluster);
      const removed = performance.now() - removing;
      const last = await comeAndGo(`${name}-last`, {});
      figures.set(name, {
        installSeconds: seconds(installed + (first.readyMs ?? 0)),
        pods: pods.length,
        notReady: pods.filter(({ readyMs }) => readyMs === undefined).length,
        withoutNetwork: pods.filter(({ readyMs, hasNetwork }) => readyMs !== undefined && !hasNetwork).length,
        failedAttempts: await failedSandboxes(`${name}-pod-`),
        medianReadySeconds: seconds(times[Math.floor((times.length - 1) / 2)] ?? 0),
        maxReadySeconds: seconds(times.at(-1) ?? 0),
        leftByPods,
        workingSecondsAfterUninstall: seconds(removed + (last.readyMs ?? Infinity)),
        failedAttemptsAfterUninstall: await failedSandboxes(`${name}-last`),
        imageMiB: Math.round(imageMiB() * 10) / 10,
      });
      process.stdout.write(`${name}: ${JSON.stringify(figures.get(name))}\n`);
      expect(last.readyMs).toBeDefined();
    },
    400_000,
  );

  test("Plexus fails no pod, leaves none without its network, and leaves nothing", () => {
    expect(figures.get("plexus")).toMatchObject({
      notReady: 0,
      withoutNetwork: 0,
      failedAttempts: 0,
      leftByPods: 0,
      failedAttemptsAfterUninstall: 0,
    });
    if (process.env["PLEXUS_COMPARISON"] !== "write") return;
    const path = join(root, comparisonPath);
    const comparison: Comparison = JSON.parse(readFileSync(path, "utf8"));
    const day = new Date().toISOString().slice(0, 10);
    const measured = Object.fromEntries(figures);
    writeFileSync(
      path,
      `${JSON.stringify({ ...comparison, day, measured: { ...comparison.measured, ...measured } }, undefined, 2)}\n`,
    );
  });
});
