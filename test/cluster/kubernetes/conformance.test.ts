// Kubernetes' own network tests on a cluster: with native plugins, which shows what this rig itself fails, and with Plexus and components alone.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Cluster } from "../../lab/cluster/cluster.ts";
import { missingCluster } from "../../lab/cluster/requirements.ts";
import { kubernetesTestsRequirements, networkConformance, startTestedCluster } from "../../lab/kubernetes-tests/cluster.ts";
import type { TestOutcome } from "../../lab/kubernetes-tests/run.ts";

const maxRunMs = 2 * 3600_000;

const failedOf = (outcomes: readonly TestOutcome[]): readonly TestOutcome[] => outcomes.filter(({ state }) => state === "failed");

describe.skipIf(missingCluster("Kubernetes' network tests", ...kubernetesTestsRequirements))("Kubernetes' network tests", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "kubernetes-tests-"));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  describe("with native plugins", () => {
    let cluster: Cluster;
    beforeAll(async () => {
      cluster = await startTestedCluster();
    }, 600_000);
    afterAll(() => cluster?.stop(), 120_000);

    test(
      "all tests of conformance that run here pass",
      async () => {
        for (const node of cluster.nodes) node.installNetwork();
        await cluster.nodesReady();
        const outcomes = await networkConformance(cluster, directory);
        for (const { title, state, why } of outcomes) console.log(`${state} ${title} ${why.slice(0, 300)}`);
        expect(failedOf(outcomes)).toEqual([]);
      },
      maxRunMs,
    );
  });
});
