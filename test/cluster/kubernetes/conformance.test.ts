// Kubernetes' own network tests on a cluster: with native plugins, which shows what this rig itself fails, and with Plexus and components alone.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../../lab/cluster/cluster.ts";
import { importPlexus } from "../../lab/cluster/plexus-image.ts";
import { deployPlexus } from "../../lab/cluster/release.ts";
import { missingCluster } from "../../lab/cluster/requirements.ts";
import { helm } from "../../lab/kube/helm.ts";
import { kubernetesTestsRequirements, networkConformance, startTestedCluster } from "../../lab/kubernetes-tests/cluster.ts";
import { recordOutcomes } from "../../lab/kubernetes-tests/record.ts";
import { missingBuild } from "../../lab/plexus.ts";
import { referencePlugins } from "../../lab/requires.ts";
import { nativePlugins } from "../../lab/wasm-only.ts";

const maxRunMs = 2 * 3600_000;

/** containerd before 2.0 executes this plugin itself, for the link `lo`. */
const runtimesOwn = "loopback";

/** The grants of the default network's components. */
const grants = {
  bridge: { log: {}, links: { bridges: ["cni0"], forwarding: true }, delegation: { plugins: ["host-local"] } },
  "host-local": { log: {}, leases: {}, resolver: {} },
  portmap: { log: {}, firewall: { hostPorts: ["1-65535"] } },
  bandwidth: { shaping: {} },
  firewall: { log: {}, filter: { bridges: ["cni0"] } },
};

/** The steps behind bridge and portmap. */
const steps = [{ type: "bandwidth", capabilities: { bandwidth: true } }, { type: "firewall" }];

const build = (): string | undefined =>
  missingBuild({ components: ["bridge-adapter", "ipam-host-local", "portmap", "bandwidth", "firewall"] });
const skip = missingCluster(
  "Kubernetes' network tests",
  helm,
  build,
  referencePlugins(...steps.map(({ type }) => type)),
  ...kubernetesTestsRequirements,
);

describe.skipIf(skip)("Kubernetes' network tests", () => {
  let directory: string;
  let cluster: Cluster | undefined;
  const started = (): Cluster => {
    if (cluster === undefined) throw new Error("the cluster has not been started");
    return cluster;
  };
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "kubernetes-tests-"));
    cluster = await startTestedCluster();
    for (const node of cluster.nodes) node.installNetwork(steps);
    await cluster.nodesReady();
  }, 600_000);
  afterAll(async () => {
    await cluster?.stop();
    rmSync(directory, { recursive: true });
  }, 120_000);

  test(
    "with native plugins: every test of conformance passes or is skipped",
    async () => {
      const outcomes = await networkConformance(started(), join(directory, "native"));
      recordOutcomes("native", outcomes);
      expect(outcomes.filter(({ state }) => state === "failed")).toEqual([]);
      expect(outcomes.length).toBeGreaterThan(0);
    },
    maxRunMs,
  );

  test(
    "with Plexus and components alone: the same tests pass",
    async () => {
      const { nodes } = started();
      importPlexus(nodes, "v1");
      await deployPlexus(
        started(),
        "install",
        "v1",
        "--set",
        "nativePlugins=none",
        "--set-json",
        `wasm=${JSON.stringify({ grants })}`,
      );
      for (const { disk } of nodes) {
        const plugins = join(disk, "opt", "cni", "bin");
        for (const name of nativePlugins(plugins)) if (name !== runtimesOwn) rmSync(join(plugins, name));
      }
      const outcomes = await networkConformance(started(), join(directory, "components"));
      recordOutcomes("components", outcomes);
      expect(outcomes.filter(({ state }) => state === "failed")).toEqual([]);
      for (const { disk } of nodes) expect(nativePlugins(join(disk, "opt", "cni", "bin"))).toEqual([runtimesOwn]);
    },
    maxRunMs,
  );
});
