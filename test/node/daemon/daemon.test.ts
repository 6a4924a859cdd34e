// The daemon: authorisation of callers, overload, shutdown, and calls while the daemon hangs or is absent.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PROTOCOL_VERSION } from "../../../host/protocol/frames.ts";
import { startDaemon, type DaemonOptions, type TestDaemon } from "../../lab/daemon.ts";
import { httpRequest } from "../../lab/http-request.ts";
import type { PodNamespace } from "../../lab/namespaces.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { missingForMixed, mixedInstallation, mixedNetwork } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

const anotherUid: Requirement = () =>
  spawnSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "true"]).status === 0
    ? undefined
    : "this user namespace maps no other uid";

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
  /** Sends a call, which the daemon serves if it runs. */
  const call = (verb: string, { config, containerId, pod }: { config: object; containerId: string; pod: PodNamespace }) =>
    stage.request({ verb, containerId, netns: pod.path, ifname: "eth0", config, env: { PLEXUS_SOCKET: socketOf() } });
  /** The number of calls that wait in the daemon's queue. */
  async function waiting(): Promise<string | undefined> {
    const { body } = await httpRequest(join(dirname(socketOf()), "status.sock"), "/metrics");
    return /^plexus_queue_calls\{state="waiting"\} (\d+)$/m.exec(body)?.[1];
  }
  /** Sends VERSION, which the daemon serves if it runs. */
  const version = () => stage.plexus.call({ verb: "VERSION", env: { PLEXUS_SOCKET: socketOf() } });

  test.skipIf(missing("another uid's call of the daemon", anotherUid))(
    "A-10 refuses the calls of a uid other than root",
    async () => {
      const { stderr } = await daemon();
      // The socket's mode already excludes other users. This test opens the mode, so that only the check of the uid remains.
      chmodSync(stage.plexus.directory, 0o755);
      chmodSync(socketOf(), 0o666);
      const asNobody = spawnSync(
        "setpriv",
        ["--reuid=65534", "--regid=65534", "--clear-groups", join(stage.plexus.cniPath, "plexus")],
        { env: { CNI_COMMAND: "VERSION", PLEXUS_SOCKET: socketOf() }, encoding: "utf8" },
      );
      expect(JSON.parse(asNobody.stdout)).toMatchObject({ code: 11 });
      await expect.poll(stderr).toContain("refused uid 65534");
      expect((await version()).json).toMatchObject({ cniVersion: "1.1.0" });
      expect(stderr()).not.toContain("uid 0 ");
    },
  );

  test("MO-29 refuses a call beyond its queue at once with code 11", async () => {
    await daemon({ args: ["--calls", "1", "--queue", "1"] });
    const slow = installRecorder(stage.plexus.cniPath, "slow");
    slow.script("ADD", { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
    const release = slow.hold("ADD");
    const config = stage.network([{ type: "slow" }]);
    const calls = ["a", "b", "c"].map((id) => call("ADD", { config, containerId: id, pod: stage.pod() }));
    // The other two are answered after the release only.
    expect(await Promise.race(calls)).toMatchObject({
      status: 1,
      json: { code: 11, msg: "the daemon serves 1 calls and 1 more wait (--calls, --queue)" },
    });
    release();
    expect((await Promise.all(calls)).map(({ status }) => status).toSorted()).toEqual([0, 0, 1]);
  });

  test("MO-29 gives the slot of a call whose shim has ended to the next call", async () => {
    const { stderr } = await daemon({ args: ["--calls", "1", "--queue", "1"] });
    const slow = installRecorder(stage.plexus.cniPath, "slow");
    slow.script("ADD", { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
    const release = slow.hold("ADD", 1);
    const config = stage.network([{ type: "slow" }]);
    const pidFile = join(stage.plexus.directory, "shim.pid");
    const add = (containerId: string) =>
      stage.plexus.call({
        verb: "ADD",
        containerId,
        netns: stage.pod().path,
        ifname: "eth0",
        config,
        env: { PLEXUS_SOCKET: socketOf() },
        through: ["sh", "-c", `echo $$ > ${pidFile}; exec "$@"`, "sh"],
      });
    const first = add("first");
    await expect.poll(() => slow.calls().length).toBe(1);
    const killed = add("killed");
    await expect.poll(waiting).toBe("1");
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
    expect((await killed).status).toBe(137);
    await expect.poll(waiting).toBe("0");
    const next = add("next");
    await expect.poll(waiting).toBe("1");
    release();
    expect([(await first).status, (await next).status]).toEqual([0, 0]);
    // The killed call never executed a plugin.
    expect([slow.calls().map(({ env }) => env["CNI_CONTAINERID"]), stderr()]).toEqual([
      ["first", "next"],
      expect.not.stringContaining("INTERNAL"),
    ]);
  });

  test("A-10 closes a connection that sends garbage, keeps a silent one, and serves other calls meanwhile", async () => {
    await daemon();
    const silent = connect(socketOf());
    await once(silent, "connect");
    expect((await version()).status).toBe(0);
    const invalid = connect(socketOf());
    invalid.on("error", () => undefined).resume();
    invalid.write(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    await once(invalid, "close");
    silent.destroy();
    expect((await version()).status).toBe(0);
  });

  test("A-10 ten thousand half requests cause at most refusals of other calls, and their connections time out", async () => {
    await daemon({ args: ["--calls", "4", "--queue", "4"] });
    const half = Buffer.from([200, 0, 0, 0, PROTOCOL_VERSION, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3]);
    const held: Socket[] = [];
    for (let hundred = 0; hundred < 100; hundred++) {
      const sockets = Array.from({ length: 100 }, () => connect(socketOf()));
      for (const socket of sockets) socket.on("error", () => undefined).write(half);
      // A full backlog rejects with EAGAIN and destroys the socket.
      await Promise.allSettled(sockets.map((socket) => Promise.race([once(socket, "connect"), once(socket, "close")])));
      // The daemon keeps these connections and drops those beyond its limit.
      held.push(...sockets.filter(({ destroyed }) => !destroyed));
    }
    const during = await version();
    // The call is served or refused with code 11 (try again later); it never hangs.
    expect([0, 11]).toContain(during.json?.["code"] ?? during.status);
    await expect.poll(async () => (await version()).status, { interval: 1000 }).toBe(0);
    for (const socket of held) socket.destroy();
    expect((await version()).status).toBe(0);
  });

  test("MO-20 on SIGTERM completes the ADD in progress and accepts no further call", async () => {
    const { stop, stderr } = await daemon();
    const slow = installRecorder(stage.plexus.cniPath, "slow");
    slow.script("ADD", { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
    const release = slow.hold("ADD");
    const attaching = { config: stage.network([{ type: "slow" }]), containerId: "last", pod: stage.pod() };
    const add = call("ADD", attaching);
    await expect.poll(() => slow.calls().length).toBe(1);
    daemons.splice(0);
    const stopped = stop();
    await expect.poll(() => existsSync(socketOf())).toBe(false);
    release();
    expect(await stopped).toBe(0);
    expect(stderr()).not.toContain("aborted");
    expect((await add).json).toMatchObject({ ips: [{ address: "10.0.0.1/24" }] });
    // Without a daemon, the shim starts a one-shot engine for the call.
    expect((await call("DEL", attaching)).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });

  test("MO-15 while the daemon hangs, one-shot engines serve the calls; afterwards the daemon works again", async () => {
    const hanging = await daemon();
    const attaching = { config: mixedNetwork(stage), containerId: "patient", pod: stage.pod() };
    expect((await call("ADD", attaching)).status).toBe(0);
    hanging.signal("SIGSTOP");
    const deleted = await call("DEL", attaching);
    expect(deleted).toMatchObject({ status: 0, stdout: "" });
    expect(stage.left()).toEqual(nothing);
    hanging.signal("SIGCONT");
    expect((await call("ADD", { ...attaching, containerId: "next" })).status).toBe(0);
    expect((await call("DEL", { ...attaching, containerId: "next" })).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });

  test("MO-15 a resumed daemon does not carry out requests that it received while it hung", async () => {
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

  test("MO-15 a daemon that hangs for a second then serves the waiting requests, also one of 3 MiB", async () => {
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

  test("a second daemon on the same socket does not start", async () => {
    const first = await daemon();
    await expect(startDaemon({ socket: socketOf() })).rejects.toThrow("a daemon already listens on this socket");
    expect((await version()).status).toBe(0);
    daemons.splice(0);
    expect(await first.stop()).toBe(0);
    expect(existsSync(socketOf())).toBe(false);
  });

  test("MO-15 makes a removed socket again, and does not replace another file at its path", async () => {
    const { stderr } = await daemon();
    rmSync(socketOf());
    await expect.poll(() => existsSync(socketOf())).toBe(true);
    expect((await version()).status).toBe(0);
    await expect.poll(stderr).toContain("the socket's file was gone; created it again");
    rmSync(socketOf());
    writeFileSync(socketOf(), "another program's file");
    await setTimeout(3000);
    expect(readFileSync(socketOf(), "utf8")).toBe("another program's file");
    rmSync(socketOf());
    await expect.poll(() => existsSync(socketOf())).toBe(true);
    expect((await version()).status).toBe(0);
  });

  test("MO-15 after a killed daemon one-shot engines serve the calls, and the next daemon takes over the socket", async () => {
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
