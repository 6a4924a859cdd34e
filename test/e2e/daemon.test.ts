// The daemon itself: who may call it, what it does with more calls than it serves, how it ends, and what becomes of calls without it.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PROTOCOL_VERSION } from "../../host/hands/frames.ts";
import { startDaemon, type DaemonOptions, type TestDaemon } from "../harness/daemon.ts";
import type { PodNamespace } from "../harness/namespaces.ts";
import { installRecorder } from "../harness/recorder.ts";
import { missing, type Requirement } from "../harness/requires.ts";
import { missingForMixed, mixedInstallation, mixedNetwork } from "./mixed-network.ts";
import { nothing, openStage, type Stage } from "./stage.ts";

const anotherUid: Requirement = () =>
  spawnSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "true"]).status === 0
    ? undefined
    : "there is no other uid in this user namespace";

describe.skipIf(missingForMixed("the daemon"))("the daemon", () => {
  let stage: Stage;
  const daemons: TestDaemon[] = [];
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(async () => {
    await Promise.all(daemons.splice(0).map(({ stop }) => stop()));
    stage.dispose();
  });

  const socketOf = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
  async function daemon(options: Partial<DaemonOptions> = {}): Promise<TestDaemon> {
    const started = await startDaemon({ socket: socketOf(), ...options });
    daemons.push(started);
    return started;
  }
  /** A call of an attachment, through the daemon where there is one. */
  const call = (verb: string, { config, containerId, pod }: { config: object; containerId: string; pod: PodNamespace }) =>
    stage.request({ verb, containerId, netns: pod.path, ifname: "eth0", config, env: { PLEXUS_SOCKET: socketOf() } });
  /** VERSION through the daemon. */
  const version = () => stage.plexus.call({ verb: "VERSION", env: { PLEXUS_SOCKET: socketOf() } });

  test.skipIf(missing("another uid's call of the daemon", anotherUid))(
    "A-10 is nobody's but root's: another uid is not answered",
    async () => {
      const { stderr } = await daemon();
      // The socket's mode keeps others out already: who gets past it is seen by its uid.
      chmodSync(stage.plexus.directory, 0o755);
      chmodSync(socketOf(), 0o666);
      const asNobody = spawnSync(
        "setpriv",
        ["--reuid=65534", "--regid=65534", "--clear-groups", join(stage.plexus.cniPath, "plexus")],
        { env: { CNI_COMMAND: "VERSION", PLEXUS_SOCKET: socketOf() }, encoding: "utf8" },
      );
      expect(JSON.parse(asNobody.stdout)).toMatchObject({ code: 11 });
      await expect.poll(stderr).toContain("uid 65534 called, which may not");
      expect((await version()).json).toMatchObject({ cniVersion: "1.1.0" });
      expect(stderr()).not.toContain("uid 0 ");
    },
  );

  test("MO-29 refuses at once, with code 11, what is beyond its bounds", async () => {
    await daemon({ args: ["--calls", "1", "--queue", "1"] });
    installRecorder(stage.plexus.cniPath, "slow").script("ADD", {
      sleepMs: 1500,
      stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}',
    });
    const config = stage.network([{ type: "slow" }]);
    const answers = await Promise.all(["a", "b", "c"].map((id) => call("ADD", { config, containerId: id, pod: stage.pod() })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([0, 0, 1]);
    const refused = answers.find(({ status }) => status === 1);
    expect(refused?.json).toMatchObject({ code: 11, msg: "1 calls are being served and 1 are waiting" });
    expect(refused?.ms).toBeLessThan(1500);
  });

  test("MO-29 gives the place of a call whose hands have ended to who comes next", async () => {
    const { stderr } = await daemon({ args: ["--calls", "1", "--queue", "1"] });
    const slow = installRecorder(stage.plexus.cniPath, "slow");
    slow.script("ADD", { sleepMs: 3000, stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
    const config = stage.network([{ type: "slow" }]);
    const add = (containerId: string, deadlineMs = 60_000) =>
      stage.plexus.call({
        verb: "ADD",
        containerId,
        netns: stage.pod().path,
        ifname: "eth0",
        config,
        env: { PLEXUS_SOCKET: socketOf() },
        deadlineMs,
      });
    const first = add("first");
    await expect.poll(() => slow.calls().length, { timeout: 10_000 }).toBe(1);
    expect((await add("killed", 500)).status).toBe(137);
    expect((await add("next")).status).toBe(0);
    expect((await first).status).toBe(0);
    // Nothing was begun of what nobody waited for.
    expect([slow.calls().map(({ env }) => env["CNI_CONTAINERID"]), stderr()]).toEqual([
      ["first", "next"],
      expect.not.stringContaining("INTERNAL"),
    ]);
  });

  test("A-10 hangs up on who talks nonsense, lets who says nothing wait, and serves others meanwhile", async () => {
    await daemon();
    const silent = connect(socketOf());
    await once(silent, "connect");
    expect((await version()).status).toBe(0);
    const rude = connect(socketOf());
    rude.on("error", () => undefined).resume();
    rude.write(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    await once(rude, "close");
    silent.destroy();
    expect((await version()).status).toBe(0);
  });

  test("A-10 ten thousand connections that send half a request cost nobody else more than a refusal, and are gone after a while", async () => {
    await daemon({ args: ["--calls", "4", "--queue", "4"] });
    const half = Buffer.from([200, 0, 0, 0, PROTOCOL_VERSION, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3]);
    const held: Socket[] = [];
    for (let hundred = 0; hundred < 100; hundred++) {
      const sockets = Array.from({ length: 100 }, () => connect(socketOf()));
      for (const socket of sockets) socket.on("error", () => undefined).write(half);
      // A full backlog (EAGAIN) rejects: such a one is destroyed, and not held.
      await Promise.allSettled(sockets.map((socket) => Promise.race([once(socket, "connect"), once(socket, "close")])));
      // Those that the daemon keeps; it drops what is beyond its bound.
      held.push(...sockets.filter(({ destroyed }) => !destroyed));
    }
    const during = await version();
    // It is served or told to try again, never left hanging.
    expect([0, 11]).toContain(during.json?.["code"] ?? during.status);
    await expect.poll(async () => (await version()).status, { timeout: 30_000, interval: 1000 }).toBe(0);
    for (const socket of held) socket.destroy();
    expect((await version()).status).toBe(0);
  });

  test("MO-20 told to stop, completes the ADD that is under way and takes no more", async () => {
    const { stop, stderr } = await daemon();
    const slow = installRecorder(stage.plexus.cniPath, "slow");
    slow.script("ADD", { sleepMs: 1500, stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
    const attaching = { config: stage.network([{ type: "slow" }]), containerId: "last", pod: stage.pod() };
    const add = call("ADD", attaching);
    await expect.poll(() => slow.calls().length, { timeout: 10_000 }).toBe(1);
    daemons.splice(0);
    expect(await stop()).toBe(0);
    expect(stderr()).not.toContain("cut off");
    expect((await add).json).toMatchObject({ ips: [{ address: "10.0.0.1/24" }] });
    // Without it, the hands start a brain for the call.
    expect((await call("DEL", attaching)).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });

  test("MO-15 hanging, leaves its calls to one-shot brains, and finds nobody when it wakes up", async () => {
    const hanging = await daemon();
    const attaching = { config: mixedNetwork(stage), containerId: "patient", pod: stage.pod() };
    expect((await call("ADD", attaching)).status).toBe(0);
    hanging.signal("SIGSTOP");
    const deleted = await call("DEL", attaching);
    expect(deleted).toMatchObject({ status: 0, stdout: "" });
    expect(deleted.ms).toBeLessThan(10_000);
    expect(stage.left()).toEqual(nothing);
    hanging.signal("SIGCONT");
    expect((await call("ADD", { ...attaching, containerId: "next" })).status).toBe(0);
    expect((await call("DEL", { ...attaching, containerId: "next" })).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });

  test("MO-15 hanging, has had the whole request of who gives up on it, and does nothing about it when it wakes up", async () => {
    const hanging = await daemon();
    const recorder = installRecorder(stage.plexus.cniPath, "recorder");
    recorder.script("ADD", { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
    const config = stage.network([{ type: "recorder" }]);
    for (const [verb, count] of [
      ["ADD", 1],
      ["DEL", 2],
    ] as const) {
      hanging.signal("SIGSTOP");
      const pod = stage.pod();
      expect((await call(verb, { config, containerId: "patient", pod })).status).toBe(0);
      hanging.signal("SIGCONT");
      for (let times = 0; times < 3; times++) expect((await version()).status).toBe(0);
      await setTimeout(500);
      expect(recorder.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL"].slice(0, count));
    }
    expect(stage.left()).toEqual(nothing);
  });

  test("MO-15 late, but in time, serves what it was asked meanwhile, 3 MiB of it too", async () => {
    const late = await daemon();
    late.signal("SIGSTOP");
    const config = { ...stage.network([{ type: "recorder" }]), padding: " ".repeat(3 << 20) };
    const answers = [{}, config].map((whole) =>
      stage.plexus.call({ verb: "VERSION", config: whole, env: { PLEXUS_SOCKET: socketOf(), PLEXUS_HOME: "/nowhere" } }),
    );
    await setTimeout(1000);
    late.signal("SIGCONT");
    for (const { status, ms } of await Promise.all(answers)) {
      expect(status).toBe(0);
      expect(ms).toBeGreaterThan(900);
    }
  });

  test("is the only one on its socket: a second one does not start", async () => {
    const first = await daemon();
    await expect(startDaemon({ socket: socketOf() })).rejects.toThrow("a daemon listens there already");
    expect((await version()).status).toBe(0);
    daemons.splice(0);
    expect(await first.stop()).toBe(0);
    expect(existsSync(socketOf())).toBe(false);
  });

  test("MO-15 makes its socket anew where its file is gone, and leaves another's alone", async () => {
    const { stderr } = await daemon();
    rmSync(socketOf());
    await expect.poll(() => existsSync(socketOf()), { timeout: 15_000 }).toBe(true);
    expect((await version()).status).toBe(0);
    await expect.poll(stderr).toContain("its file was gone; made anew");
    rmSync(socketOf());
    writeFileSync(socketOf(), "somebody's");
    await setTimeout(3000);
    expect(readFileSync(socketOf(), "utf8")).toBe("somebody's");
    rmSync(socketOf());
    await expect.poll(() => existsSync(socketOf()), { timeout: 15_000 }).toBe(true);
    expect((await version()).status).toBe(0);
  });

  test("MO-15 dead, leaves its calls to one-shot brains, and its socket to the next daemon", async () => {
    const first = await daemon();
    const attaching = { config: mixedNetwork(stage), containerId: "orphan", pod: stage.pod() };
    expect((await call("ADD", attaching)).status).toBe(0);
    daemons.splice(0);
    first.signal("SIGKILL");
    await first.ended;
    expect(existsSync(socketOf())).toBe(true);
    expect((await call("CHECK", attaching)).status).toBe(0);
    await daemon();
    expect((await call("DEL", attaching)).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });
});
