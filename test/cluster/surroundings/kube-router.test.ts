// Plexus beside kube-router, built from cloudnativelabs/kube-router, on a node with a real kubelet and containerd.

import { describe, expect, test } from "vitest";

import { lifeCycle, stageMs } from "../../lab/surroundings/life-cycle.ts";
import { kubeRouter } from "../../lab/surroundings/kube-router/network.ts";

const { skip, start, stages } = lifeCycle(kubeRouter);

describe.skipIf(skip)("Plexus beside kube-router", () => {
  start();
  test.each(stages)(
    "FI-39: $title",
    async ({ run }) => {
      expect.hasAssertions();
      await run();
    },
    stageMs,
  );
});
