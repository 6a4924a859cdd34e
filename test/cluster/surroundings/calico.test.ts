// Plexus beside Calico's CNI plugin with the Kubernetes datastore, built from projectcalico/calico, on a node with a real kubelet and containerd.

import { describe, expect, test } from "vitest";

import { lifeCycle, stageMs } from "../../lab/surroundings/life-cycle.ts";
import { calico } from "../../lab/surroundings/calico/network.ts";

const { skip, start, stages } = lifeCycle(calico);

describe.skipIf(skip)("Plexus beside Calico", () => {
  start();
  test.each(stages)(
    "FI-36 FI-18: $title",
    async ({ run }) => {
      expect.hasAssertions();
      await run();
    },
    stageMs,
  );
});
