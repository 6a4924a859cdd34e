// The reference plugins' own specifications against the components, through the installed shim.

import { tmpdir } from "node:os";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { peersBuilt, referencePluginsModule } from "../lab/peers/go-modules.ts";
import { referenceSuites, runReferenceSuite } from "../lab/peers/reference-suites.ts";
import { missing, privateNamespaces, referencePlugins } from "../lab/requires.ts";
import { judged } from "./outcomes.ts";

const skip = missing(
  "the reference plugins' own specifications",
  privateNamespaces,
  peersBuilt(referencePluginsModule),
  referencePlugins("ptp", "host-local"),
);

/** Ends a hang only. The suite of dhcp waits two minutes for servers that do not answer, and that of bridge takes half an hour in an emulated machine. */
const suiteMs = 3_600_000;

describe.skipIf(skip)("the reference plugins' own specifications", () => {
  const socket = "/run/plexus/reference-plugins/plexus.sock";
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon({ socket, confined: { writable: [tmpdir(), "/run", "/var/lib/cni"] } });
  });
  afterAll(async () => void (await daemon?.stop()));

  test.each(referenceSuites)(
    "FI-27 of $plugin pass, fail on purpose, or need what the kernel lacks",
    async (suite) => {
      const { failed, found, expected } = judged(suite.plugin, referencePluginsModule, await runReferenceSuite(suite, socket));
      expect(failed).toEqual([]);
      expect(found).toEqual(expected);
    },
    suiteMs,
  );
});
