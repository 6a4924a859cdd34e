// libcni's own specifications and the tests of containerd's go-cni, with an installed Plexus between libcni and the plugins.

import { tmpdir } from "node:os";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { goModule, peersBuilt } from "../lab/peers/go-modules.ts";
import { runLibcniSuite } from "../lab/peers/libcni-suites.ts";
import { go, missing, privateNamespaces } from "../lab/requires.ts";
import { judged } from "./outcomes.ts";

const skip = missing(
  "libcni's and go-cni's own tests",
  privateNamespaces,
  // The specifications build their plugins.
  go,
  peersBuilt(goModule("libcni")),
  peersBuilt(goModule("go-cni")),
);

describe.skipIf(skip)("libcni's and go-cni's own tests", () => {
  const socket = "/run/plexus/libcni-peers/plexus.sock";
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon({ socket, confined: { writable: [tmpdir(), "/run", "/var/lib/cni"] } });
  });
  afterAll(async () => void (await daemon?.stop()));

  test.each(["libcni", "go-cni"] as const)("FI-27 of %s pass or fail on purpose", async (suite) => {
    const { failed, found, expected } = judged(suite, goModule(suite), await runLibcniSuite(suite, socket));
    expect(failed).toEqual([]);
    expect(found).toEqual(expected);
  });
});
