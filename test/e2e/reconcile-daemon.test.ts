// The built daemon reconciles by itself: confined, by its options, with hands that stay on the node.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { startDaemon, type TestDaemon } from "../harness/daemon.ts";
import { leases } from "../harness/namespaces.ts";
import { type Answer, dist } from "../harness/plexus.ts";
import { installRecorder } from "../harness/recorder.ts";
import { startResidentHands, type TestResidentHands } from "../harness/resident-hands.ts";
import { bridgeStep, missingForMixed, mixedInstallation, mixedNetwork } from "./mixed-network.ts";
import { asOfEarlierBoot } from "./reconcile-node.ts";
import { openStage, type Attaching, type Stage } from "./stage.ts";

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
  const allHands: TestResidentHands[] = [];
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(async () => {
    await Promise.all(allHands.splice(0).map(({ stop }) => stop()));
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
  function hands(): TestResidentHands {
    const path = "/usr/sbin:/usr/bin:/sbin:/bin";
    const started = startResidentHands({
      command: stage.entrance(),
      env: { PATH: path, CNI_PATH: stage.plexus.cniPath, PLEXUS_SOCKET: socketOf() },
    });
    allHands.push(started);
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
  const freed = (): Promise<void> => expect.poll(() => leases(stage.leases), { timeout: 60_000, interval: 200 }).toEqual([]);

  test("RT-02 U-11 frees the address of a pod whose namespace went without a DEL, by itself, and keeps the neighbour's", async () => {
    const { stderr } = await daemon();
    hands();
    const dead = { config: mixedNetwork(stage), containerId: "dead", pod: stage.pod() };
    const live = { config: mixedNetwork(stage), containerId: "live", pod: stage.pod() };
    for (const each of [dead, live]) expect((await call("ADD", each)).status).toBe(0);
    dead.pod.dispose();
    await expect.poll(() => leases(stage.leases), { timeout: 60_000, interval: 200 }).toEqual(["pods/10.10.0.3"]);
    await expect
      .poll(stderr, { timeout: 20_000 })
      .toMatch(/reconcile: attachment dead@cluster@eth0 .*whose namespace is gone: cleaned/);
    expect((await call("CHECK", live)).status).toBe(0);
    expect((await call("DEL", { ...dead, pod: "" })).status).toBe(0);
    expect((await call("DEL", live)).status).toBe(0);
    await freed();
  });

  test("RT-02 undoes an ADD amid which daemon, hands and resident hands were killed", async () => {
    const first = await daemon();
    const recorder = installRecorder(stage.plexus.cniPath, "recorder");
    recorder.script("ADD", { sleepMs: 120_000 }, 1);
    const cut = { config: stage.network([bridgeStep(), { type: "recorder" }]), containerId: "cut", pod: stage.pod() };
    // So that the next daemon knows the configuration: a call that ends.
    const other = { config: stage.network([bridgeStep()]), containerId: "other", pod: stage.pod() };
    expect((await call("ADD", other)).status).toBe(0);
    expect((await call("DEL", other)).status).toBe(0);
    const resident = hands();
    const add = call("ADD", cut);
    await expect.poll(() => recorder.calls().length, { timeout: 20_000 }).toBe(1);
    const plugin = recorder.calls()[0]?.pid ?? 0;
    const caller = Number(/^PPid:\s+(\d+)$/mu.exec(readFileSync(`/proc/${plugin}/status`, "utf8"))?.[1]);
    daemons.splice(0);
    allHands.splice(0);
    process.kill(caller, "SIGKILL");
    first.signal("SIGKILL");
    resident.signal("SIGKILL");
    await Promise.all([add, first.ended, resident.ended]);
    expect((await add).status).toBe(137);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);

    const { stderr } = await daemon();
    hands();
    await expect.poll(stderr, { timeout: 30_000 }).toContain("whose ADD broke off, while its namespace is there: left alone");
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);
    cut.pod.dispose();
    await freed();
    await expect.poll(() => stage.left().links, { timeout: 20_000 }).toEqual([]);
    await expect
      .poll(() => stage.files().state.filter((path) => !path.startsWith("configurations/")), { timeout: 20_000 })
      .toEqual([]);
  });

  test("RT-02 does it when plexusctl asks, tells without doing anything with --dry-run, and says who is missing", async () => {
    await daemon("--reconcile-interval", "0");
    const places = ["--status-socket", join(dirname(socketOf()), "status.sock")];
    const each = { config: mixedNetwork(stage), containerId: "left", pod: stage.pod() };
    expect((await call("ADD", each)).status).toBe(0);
    asOfEarlierBoot(join(stage.plexus.state("cni"), "journal", "left@cluster@eth0"));
    const alone = control("reconcile", ...places);
    expect([alone.status, alone.stdout]).toEqual([1, expect.stringContaining("No resident hands are connected")]);
    hands();
    await expect.poll(() => control("reconcile", "--dry-run", ...places).status, { timeout: 30_000 }).toBe(0);
    const dry = control("reconcile", "--dry-run", "-o", "wide", ...places);
    expect(dry.stdout).toMatch(
      /^Dry run: 1 entry in the journal, 1 finding\n\nKIND .*\nattachment +left@cluster@eth0 +of an earlier boot +dry-run\n/,
    );
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    expect(JSON.parse(control("reconcile", "-o", "json", ...places).stdout)).toMatchObject({
      dryRun: false,
      hands: true,
      findings: [{ kind: "attachment", id: "left@cluster@eth0", why: "earlier-boot", handling: "cleaned" }],
    });
    expect(leases(stage.leases)).toEqual([]);
    expect(control("status", "--dry-run", ...places)).toMatchObject({ status: 2, stderr: expect.stringContaining("--dry-run") });
    const nobody = control("reconcile", "--status-socket", "/nowhere");
    expect([nobody.status, nobody.stderr]).toEqual([1, expect.stringContaining("there is no such socket")]);
  });

  test.each([
    [["--reconcile-interval=-1"], "--reconcile-interval -1: must be a whole number from 0 to 86400"],
    [["--reconcile-grace", "0"], "--reconcile-grace 0: must be a whole number from 1 to 86400"],
    [["--reconcile-grace", "soon"], "--reconcile-grace soon: must be a whole number from 1 to 86400"],
    [["--reconcile-dryrun"], "Unknown option '--reconcile-dryrun'"],
  ])("refuses %j by name", async (args, words) => {
    await expect(startDaemon({ socket: socketOf(), args })).rejects.toThrow(words);
  });
});
