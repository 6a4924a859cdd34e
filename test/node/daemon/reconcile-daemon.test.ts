// The built daemon reconciles by itself: confined, configured by its options, with an agent on the node.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { leases } from "../../lab/namespaces.ts";
import { type Answer, dist } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { startAgent, type TestAgent } from "../../lab/agent.ts";
import { bridgeStep, missingForMixed, mixedInstallation, mixedNetwork } from "../../lab/mixed-network.ts";
import { asOfEarlierBoot } from "../../lab/reconcile-node.ts";
import { openStage, type Attaching, type Stage } from "../../lab/stage.ts";

function control(...args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  return spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), ...args], { encoding: "utf8" });
}

describe.skipIf(missingForMixed("the daemon's reconciler"))("the daemon's reconciler", () => {
  let stage: Stage;
  const daemons: TestDaemon[] = [];
  const agents: TestAgent[] = [];
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(async () => {
    await Promise.all(agents.splice(0).map(({ stop }) => stop()));
    await Promise.all(daemons.splice(0).map(({ stop }) => stop()));
    stage.dispose();
  });

  const socketOf = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
  async function daemon(...args: readonly string[]): Promise<TestDaemon> {
    const started = await startDaemon({
      socket: socketOf(),
      args: ["--state-dir", stage.plexus.state("cni"), "--reconcile-interval", "1", "--reconcile-grace", "1", ...args],
      confined: { writable: [stage.plexus.state("cni"), stage.leases] },
    });
    daemons.push(started);
    return started;
  }
  function startNodeAgent(): TestAgent {
    const path = "/usr/sbin:/usr/bin:/sbin:/bin";
    const started = startAgent({
      command: stage.entrance(),
      env: {
        PATH: path,
        CNI_PATH: stage.plexus.cniPath,
        PLEXUS_SOCKET: socketOf(),
      },
    });
    agents.push(started);
    return started;
  }
  const call = (verb: string, { config, containerId, pod }: Attaching): Promise<Answer> =>
    stage.request({
      verb,
      config,
      containerId,
      ifname: "eth0",
      netns: typeof pod === "string" ? pod : pod.path,
      env: { PLEXUS_SOCKET: socketOf(), PLEXUS_HOME: "/nowhere" },
    });
  const expectNoLeases = (): Promise<void> => expect.poll(() => leases(stage.leases), { interval: 200 }).toEqual([]);

  test("RT-02 releases the address of a pod whose namespace ended without a DEL, and keeps another pod's address", async () => {
    const { stderr } = await daemon();
    startNodeAgent();
    const dead = { config: mixedNetwork(stage), containerId: "dead", pod: stage.pod() };
    const live = { config: mixedNetwork(stage), containerId: "live", pod: stage.pod() };
    for (const attachment of [dead, live]) expect((await call("ADD", attachment)).status).toBe(0);
    dead.pod.dispose();
    await expect.poll(() => leases(stage.leases), { interval: 200 }).toEqual(["pods/10.10.0.3"]);
    await expect.poll(stderr).toMatch(/reconcile: attachment dead@cluster@eth0 .*network namespace is gone; cleaned/);
    expect((await call("CHECK", live)).status).toBe(0);
    expect((await call("DEL", { ...dead, pod: "" })).status).toBe(0);
    expect((await call("DEL", live)).status).toBe(0);
    await expectNoLeases();
  });

  test("RT-02 undoes an ADD during which daemon, shim and agent were killed", async () => {
    const first = await daemon();
    const recorder = installRecorder(stage.plexus.cniPath, "recorder");
    recorder.hold("ADD", 1);
    const cut = { config: stage.network([bridgeStep(), { type: "recorder" }]), containerId: "cut", pod: stage.pod() };
    // A completed call stores the configuration, which the next daemon needs.
    const other = { config: stage.network([bridgeStep()]), containerId: "other", pod: stage.pod() };
    expect((await call("ADD", other)).status).toBe(0);
    expect((await call("DEL", other)).status).toBe(0);
    const agent = startNodeAgent();
    const add = call("ADD", cut);
    await expect.poll(() => recorder.calls().length).toBe(1);
    const plugin = recorder.calls()[0]?.pid ?? 0;
    const caller = Number(/^PPid:\s+(\d+)$/mu.exec(readFileSync(`/proc/${plugin}/status`, "utf8"))?.[1]);
    daemons.splice(0);
    agents.splice(0);
    process.kill(caller, "SIGKILL");
    first.signal("SIGKILL");
    agent.signal("SIGKILL");
    await Promise.all([add, first.ended, agent.ended]);
    expect((await add).status).toBe(137);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);

    const { stderr } = await daemon();
    startNodeAgent();
    await expect.poll(stderr).toContain("ADD was interrupted, but the network namespace exists; not changed");
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);
    cut.pod.dispose();
    await expectNoLeases();
    await expect.poll(() => stage.left().links).toEqual([]);
    await expect.poll(() => stage.files().state.filter((path) => !path.startsWith("configurations/"))).toEqual([]);
  });

  test("RT-02 reconciles on request of plexusctl, changes nothing with --dry-run, and reports a missing agent or daemon", async () => {
    await daemon("--reconcile-interval", "0");
    const endpointArgs = ["--status-socket", join(dirname(socketOf()), "status.sock")];
    const attachment = { config: mixedNetwork(stage), containerId: "left", pod: stage.pod() };
    expect((await call("ADD", attachment)).status).toBe(0);
    asOfEarlierBoot(join(stage.plexus.state("cni"), "journal", "left@cluster@eth0"));
    const alone = control("reconcile", ...endpointArgs);
    expect([alone.status, alone.stdout]).toEqual([1, expect.stringContaining("No agent is connected")]);
    startNodeAgent();
    await expect.poll(() => control("reconcile", "--dry-run", ...endpointArgs).status).toBe(0);
    const dry = control("reconcile", "--dry-run", "-o", "wide", ...endpointArgs);
    expect(dry.stdout).toMatch(
      /^Dry run: 1 entry in the journal, 1 finding\n\nKIND .*\nattachment +left@cluster@eth0 +made in an earlier boot +dry-run\n/,
    );
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    expect(JSON.parse(control("reconcile", "-o", "json", ...endpointArgs).stdout)).toMatchObject({
      dryRun: false,
      agent: true,
      findings: [{ kind: "attachment", id: "left@cluster@eth0", why: "earlier-boot", handling: "cleaned" }],
    });
    expect(leases(stage.leases)).toEqual([]);
    expect(control("status", "--dry-run", ...endpointArgs)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--dry-run"),
    });
    const noDaemon = control("reconcile", "--status-socket", "/nowhere");
    expect([noDaemon.status, noDaemon.stderr]).toEqual([1, expect.stringContaining("the socket does not exist")]);
  });

  test.each([
    [["--reconcile-interval=-1"], "--reconcile-interval -1: must be a whole number from 0 to 86400"],
    [["--reconcile-grace", "0"], "--reconcile-grace 0: must be a whole number from 1 to 86400"],
    [["--reconcile-grace", "soon"], "--reconcile-grace soon: must be a whole number from 1 to 86400"],
    [["--reconcile-dryrun"], "Unknown option '--reconcile-dryrun'"],
  ])("refuses %j with the option's name", async (args, message) => {
    await expect(startDaemon({ socket: socketOf(), args })).rejects.toThrow(message);
  });
});
