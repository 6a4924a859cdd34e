// Plexus beside flannel with the Kubernetes datastore, built from flannel-io/flannel, on a node with a real kubelet and containerd.

import { describe, expect, test } from "vitest";

import { lifeCycle, stageMs } from "../../lab/surroundings/life-cycle.ts";
import { flannel } from "../../lab/surroundings/flannel/network.ts";

const { skip, start, stages } = lifeCycle(flannel);

describe.skipIf(skip)("Plexus beside flannel", () => {
  start();
  test.each(stages)(
    "FI-37: $title",
    async ({ run }) => {
      expect.hasAssertions();
      await run();
    },
    stageMs,
  );
});
