// The sandbox processes that a one-shot engine starts, counted by the executions of the launcher.

import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compiledPlugin } from "../../lab/compiled.ts";
import { dist, type Installation, installPlexus, missingBuild } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";

const lacking = missingBuild({ components: ["ipam-host-local"] });
if (lacking !== undefined) throw new Error(lacking);

describe("a one-shot engine", () => {
  let plexus: Installation;
  beforeAll(() => {
    plexus = installPlexus({ components: ["ipam-host-local"], serving: "one-shot" });
  });
  afterAll(() => plexus.dispose());

  test("starts a process for each component, and none while a native step runs after the last of them", async () => {
    const executed = join(plexus.directory, "executed");
    // A pool of a daemon starts a warm process after 200 ms without a call.
    installRecorder(plexus.cniPath, "slow").script("ADD", { sleepMs: 1500 });
    const answer = await plexus.call({
      verb: "ADD",
      containerId: "c1",
      netns: "/run/netns/none",
      ifname: "eth0",
      through: [compiledPlugin("starts"), executed],
      config: {
        cniVersion: "1.0.0",
        name: "pods",
        type: "plexus",
        cniDir: plexus.state("cni"),
        runDir: plexus.state("run"),
        wasm: {
          isolation: "process",
          grants: { "ipam-host-local": { log: {}, leases: { directories: [plexus.state("leases")] }, resolver: {} } },
        },
        delegates: [
          {
            cniVersion: "1.0.0",
            name: "pods",
            plugins: [{ type: "ipam-host-local", ipam: { type: "ipam-host-local", subnet: "10.5.0.0/24" } }, { type: "slow" }],
          },
        ],
      },
    });
    expect(answer).toMatchObject({ status: 0, stderr: "" });
    const launcher = realpathSync(join(dist, "bin", "plexus-sandbox"));
    const programs = readFileSync(executed, "utf8").split("\n");
    expect(programs.filter((path) => path === launcher)).toHaveLength(1);
  });
});
