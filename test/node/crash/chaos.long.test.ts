// The daemon is killed repeatedly while pods are attached and detached. PLEXUS_TEST_CHAOS_PODS sets the number of pods (default: 24).

import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { Chaos } from "./chaos.ts";
import { manifestsIn } from "../../lab/manifests.ts";
import { mixedInstallation, mixedNetwork, missingForMixed } from "../../lab/mixed-network.ts";
import { processesNaming } from "../../lab/processes.ts";
import { randomFrom, testSeed } from "../../lab/random-from.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

const pods = Number(process.env["PLEXUS_TEST_CHAOS_PODS"] ?? 24);

describe.skipIf(missingForMixed("a daemon that is killed repeatedly"))("a daemon that is killed repeatedly", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  test(
    `MO-15 ${pods} pods: every answer is true, calls without a daemon use one-shot engines, and DEL leaves nothing`,
    { timeout: 900_000 },
    async () => {
      const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
      manifests.network("uplink", [{ type: "ptp", ipam: { type: "host-local", subnet: "10.30.0.0/16", dataDir: stage.leases } }]);
      manifests.pod("web", "uplink");
      const chaos = new Chaos({
        stage,
        socket: join(stage.plexus.directory, "daemon", "plexus.sock"),
        config: mixedNetwork(stage, { manifests: manifests.directory }),
        args: manifests.argsOf("web"),
        links: ["eth0", "net1"],
        random: randomFrom(testSeed("chaos")),
      });
      await chaos.run({ pods, deaths: Math.ceil(pods / 8), cut: 3, maxPods: Math.max(300, pods) });
      process.stderr.write(`chaos: ${chaos.figures()}\n`);
      expect(chaos.wrong).toEqual([]);
      expect(chaos.cut).toBeGreaterThanOrEqual(3);
      await expect.poll(() => stage.left()).toEqual(nothing);
      await expect.poll(() => processesNaming(stage.plexus.directory)).toEqual([]);
    },
  );
});
