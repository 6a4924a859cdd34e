// 200 pods through ADD and DEL, with 1 to 4 attachments, 16 at once, while plugins fail, the API errs, and brains and hands are
// killed. At the end nothing is out of place. With a real API server where there is one; the directory of manifests stands in for it
// otherwise, and has a smaller crowd besides. PLEXUS_TEST_SEED repeats a run, PLEXUS_TEST_PODS makes it smaller.

import { existsSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { kubeApi } from "../harness/kube/binaries.ts";
import { missing, type Requirement } from "../harness/requires.ts";
import { Crowd } from "./crowd.ts";
import { apiCluster, type CrowdCluster, manifestCluster } from "./crowd-cluster.ts";
import { stepFaults } from "./fault-plan.ts";
import { missingForMixed, mixedInstallation } from "./mixed-network.ts";
import { processesNaming } from "./processes.ts";
import { nothing, openStage, type Stage } from "./stage.ts";

const most = Number(process.env["PLEXUS_TEST_PODS"] ?? 200);
const seed = Number(process.env["PLEXUS_TEST_SEED"] ?? Math.floor(Math.random() * 1e6));
/** Fewer pods may not meet every kind of fault. */
const enough = 200;

const childLists: Requirement = () =>
  existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
    ? undefined
    : "the kernel lists no children (CONFIG_PROC_CHILDREN)";

async function expectNothingOutOfPlace(pods: number, open: (stage: Stage) => Promise<CrowdCluster>): Promise<void> {
  process.stderr.write(`crowd: PLEXUS_TEST_SEED=${seed}\n`);
  const stage = openStage(mixedInstallation);
  let cluster: CrowdCluster | undefined;
  try {
    cluster = await open(stage);
    const crowd = new Crowd(stage, cluster, seed, pods);
    await crowd.prepare();
    const before = stage.left().links;
    await crowd.come();
    const { leases, state, run } = stage.files();
    const kept = (directory: string): number => state.filter((path) => path.startsWith(`${directory}/`)).length;
    expect(crowd.wrong).toEqual([]);
    expect([leases.length, kept("journal"), kept("results"), state.length, run]).toEqual([
      crowd.attachments,
      pods,
      crowd.attachments,
      pods + crowd.attachments,
      [],
    ]);
    await cluster.vanish();
    await crowd.go();
    expect(crowd.wrong).toEqual([]);
    await expect.poll(() => stage.left(), { timeout: 10_000 }).toEqual({ ...nothing, links: before });
    await expect.poll(() => processesNaming(stage.plexus.directory), { timeout: 10_000 }).toEqual([]);
    process.stderr.write(`crowd: ${crowd.figures()}\n`);
    const kinds = [...stepFaults, ...cluster.faults].map((fault) => `ADD ${fault}`);
    const all = [...kinds, ...stepFaults.map((fault) => `DEL ${fault}`)];
    expect(pods < enough ? [] : all.filter((kind) => !crowd.counts.has(kind))).toEqual([]);
  } finally {
    await cluster?.dispose();
    stage.dispose();
  }
}

describe.skipIf(missingForMixed("a crowd of pods") || missing("a crowd of pods", childLists))("a crowd of pods", () => {
  const noApi = missing("a crowd of pods of a real API server", kubeApi);
  const fewer = noApi ? most : Math.ceil(most / 10);

  test.skipIf(noApi)(
    `${most} pods of a real API server come and go, and nothing is out of place`,
    { timeout: 900_000 },
    async () => {
      await expectNothingOutOfPlace(most, apiCluster);
    },
  );

  test(`${fewer} pods of a directory of manifests come and go, and nothing is out of place`, { timeout: 900_000 }, async () => {
    await expectNothingOutOfPlace(fewer, async (stage) => manifestCluster(stage));
  });
});
