// plexusctl doctor and sysdump on a node with a running daemon and a connected agent.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAgent, type TestAgent } from "../../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { dist, type Installation, installPlexus, missingBuild } from "../../lab/plexus.ts";
import { missing } from "../../lab/requires.ts";

const components = ["status-shaper"];

const control = (...args: readonly string[]) => spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...args]);

describe.skipIf(missing("plexusctl doctor", () => missingBuild({ components })))("plexusctl on a node with a daemon", () => {
  let plexus: Installation;
  let daemon: TestDaemon;
  let agent: TestAgent;
  const at = (...names: readonly string[]): string => join(plexus.directory, ...names);
  const places = (cniPath = plexus.cniPath): readonly string[] => [
    `--status-socket=${at("daemon", "status.sock")}`,
    `--state-dir=${at("state", "cni")}`,
    `--config=${at("net.d")}`,
    `--cni-path=${cniPath}`,
  ];
  const doctor = (cniPath?: string) => {
    const { status, stdout } = control("doctor", "-o", "json", ...places(cniPath));
    const { checks } = JSON.parse(stdout.toString());
    return { status, lacks: checks.filter(({ finding }: { finding: unknown }) => finding !== null) };
  };

  beforeAll(async () => {
    plexus = installPlexus({ components });
    const delegates = [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type: "status-shaper" }] }];
    const config = { cniVersion: "1.0.0", name: "node", type: "plexus", cniDir: plexus.state("cni"), delegates };
    mkdirSync(at("net.d"));
    writeFileSync(at("net.d", "10-plexus.conf"), JSON.stringify(config));
    const socket = at("daemon", "plexus.sock");
    daemon = await startDaemon({ socket, args: ["--state-dir", at("state", "cni"), "--sandboxes", "1"] });
    const env = { CNI_PATH: plexus.cniPath, PLEXUS_SOCKET: socket };
    agent = startAgent({ command: join(plexus.cniPath, "plexus"), env });
    // The daemon counts the agent when its first frame has arrived.
    for (const end = Date.now() + 120_000; doctor().lacks.length > 0 && Date.now() < end;) await sleep(50);
    await plexus.call({ verb: "ADD", containerId: "c1", netns: "/nonexistent", ifname: "eth0", config, env });
  });
  afterAll(async () => {
    await agent.stop();
    await daemon.stop();
    plexus.dispose();
  });

  test("E-20: doctor on a good node ends with status 0", () => {
    expect(doctor()).toEqual({ status: 0, lacks: [] });
  });

  test("E-20: doctor on a node without the shim and the component ends with status 1, and names both", () => {
    mkdirSync(at("empty"));
    expect(doctor(at("empty"))).toEqual({
      status: 1,
      lacks: [
        expect.objectContaining({
          name: "shim",
          finding: expect.objectContaining({ severity: "error", remedy: expect.stringContaining("plexusctl install") }),
        }),
        expect.objectContaining({
          name: "configuration",
          finding: expect.objectContaining({ severity: "error", message: expect.stringContaining("status-shaper") }),
        }),
      ],
    });
  });

  test("sysdump has the daemon's last calls, and the checks of a good node", () => {
    const archive = at("dump.tar.gz");
    expect(control("sysdump", "-o", archive, ...places()).status).toBe(0);
    const read = (name: string): unknown =>
      JSON.parse(execFileSync("tar", ["-xzOf", archive, `plexus-sysdump/${name}`], { encoding: "utf8" }));
    expect(read("node-checks.json")).toMatchObject({ isAble: true });
    expect(read("calls.json")).toMatchObject({ calls: [{ verb: "ADD", container: "c1" }] });
    expect(read("explanation.json")).toMatchObject({ networks: [{ steps: [{ type: "status-shaper" }] }] });
    rmSync(archive);
  });
});
