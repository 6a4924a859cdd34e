// ADD and DEL of 120 pods with 1 to 4 attachments, 16 at once, while plugins and API requests fail and engines and shims are killed. At the
// end nothing may remain. The full crowd uses a real API server if installed, and a smaller crowd uses a directory of manifests; without an
// API server the full crowd uses the manifests. PLEXUS_TEST_SEED repeats a run, PLEXUS_TEST_PODS sets the number of pods.

import { existsSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { kubeApi } from "../lab/kube/binaries.ts";
import { rounds } from "../lab/rounds.ts";
import { testSeed } from "../lab/random-from.ts";
import { missing, type Requirement } from "../lab/requires.ts";
import { Crowd } from "./crowd.ts";
import { apiCluster, type CrowdCluster, manifestCluster } from "./crowd-cluster.ts";
import { stepFaults } from "./fault-plan.ts";
import { missingForMixed, mixedInstallation } from "../lab/mixed-network.ts";
import { processesNaming } from "../lab/processes.ts";
import { nothing, openStage, type Stage } from "../lab/stage.ts";

const fullCrowd = rounds(120, "PLEXUS_TEST_PODS");
/** A run of fewer pods may not produce every kind of fault. */
const podsForAllFaults = 120;

const childLists: Requirement = () =>
  existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
    ? undefined
    : "the kernel lists no children (CONFIG_PROC_CHILDREN)";

async function expectNothingLeft(pods: number, open: (stage: Stage) => Promise<CrowdCluster>): Promise<void> {
  const seed = testSeed("crowd");
  const stage = openStage({ ...mixedInstallation, serving: "one-shot" });
  let cluster: CrowdCluster | undefined;
  try {
    cluster = await open(stage);
    const crowd = new Crowd(stage, cluster, seed, pods);
    await crowd.prepare();
    const before = stage.left().links;
    await crowd.attachAll();
    const { leases, state, run } = stage.files();
    const countIn = (directory: string): number => state.filter((path) => path.startsWith(`${directory}/`)).length;
    expect(crowd.problems).toEqual([]);
    expect([leases.length, countIn("journal"), countIn("results"), state.length, run]).toEqual([
      crowd.attachments,
      pods,
      crowd.attachments,
      pods + crowd.attachments,
      [],
    ]);
    await cluster.vanish();
    await crowd.detachAll();
    expect(crowd.problems).toEqual([]);
    await expect.poll(() => stage.left()).toEqual({ ...nothing, links: before });
    await expect.poll(() => processesNaming(stage.plexus.directory)).toEqual([]);
    process.stderr.write(`crowd: ${crowd.figures()}\n`);
    const kinds = [...stepFaults, ...cluster.faults].map((fault) => `ADD ${fault}`);
    const all = [...kinds, ...stepFaults.map((fault) => `DEL ${fault}`)];
    expect(pods < podsForAllFaults ? [] : all.filter((kind) => !crowd.counts.has(kind))).toEqual([]);
  } finally {
    await cluster?.dispose();
    stage.dispose();
  }
}

describe.skipIf(missingForMixed("a crowd of pods") || missing("a crowd of pods", childLists))("a crowd of pods", () => {
  const noApi = missing("a crowd of pods of a real API server", kubeApi);
  const manifestPods = noApi ? fullCrowd : Math.ceil(fullCrowd / 10);

  test.skipIf(noApi)(`ADD and DEL of ${fullCrowd} pods of a real API server leave nothing`, { timeout: 900_000 }, async () => {
    await expectNothingLeft(fullCrowd, apiCluster);
  });

  test(`ADD and DEL of ${manifestPods} pods of a directory of manifests leave nothing`, { timeout: 900_000 }, async () => {
    await expectNothingLeft(manifestPods, async (stage) => manifestCluster(stage));
  });
});
