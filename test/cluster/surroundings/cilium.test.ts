// Plexus beside Cilium's agent and CNI plugin, built from cilium/cilium, on a node with a real kubelet and containerd.

import { describe, expect, test } from "vitest";

import { lifeCycle, stageMs } from "../../lab/surroundings/life-cycle.ts";
import { cilium } from "../../lab/surroundings/cilium/network.ts";

const { skip, start, stages } = lifeCycle(cilium);

describe.skipIf(skip)("Plexus beside Cilium", () => {
  start();
  test.each(stages)(
    "FI-44: $title",
    async ({ run }) => {
      expect.hasAssertions();
      await run();
    },
    stageMs,
  );
});
