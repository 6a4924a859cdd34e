// Plexus beside kindnet, played by a script (test/lab/surroundings/kindnet/objects.ts), on a node with a real kubelet and containerd.

import { describe, expect, test } from "vitest";

import { lifeCycle, stageMs } from "../../lab/surroundings/life-cycle.ts";
import { kindnet } from "../../lab/surroundings/kindnet/network.ts";

const { skip, start, stages } = lifeCycle(kindnet);

describe.skipIf(skip)("Plexus beside kindnet", () => {
  start();
  test.each(stages)(
    "FI-40: $title",
    async ({ run }) => {
      expect.hasAssertions();
      await run();
    },
    stageMs,
  );
});
