// A call's own time (RT-08): Plexus gives up before the runtime does, and undoes what it began in what it kept for that. The plugins that
// are too slow sleep for a minute; without the bound each would be waited for as long.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { containerByte, locksPath } from "../../host/brain/locks.ts";
import { startDaemon, type TestDaemon } from "../harness/daemon.ts";
import { installRecorder, type RecorderPlugin } from "../harness/recorder.ts";
import { missingForMixed, mixedInstallation } from "./mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "./stage.ts";

const address = { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' };
const hanging = { sleepMs: 60_000 };
const lockHolder = fileURLToPath(new URL("../../host/locks/fixtures/holder.ts", import.meta.url));

function verbs({ calls }: RecorderPlugin): readonly (string | undefined)[] {
  return calls().map(({ env }) => env["CNI_COMMAND"]);
}

/** What the daemon tells at its status socket. */
async function metricsOf(daemon: TestDaemon | undefined): Promise<string> {
  if (daemon === undefined) return "";
  const request = get({ socketPath: join(dirname(daemon.socket), "status.sock"), path: "/metrics" });
  const [response] = await once(request, "response");
  return text(response);
}

describe.skipIf(missingForMixed("deadlines of calls")).each([false, true])("RT-08 a call's time, with a daemon: %j", (daemon) => {
  let stage: Stage;
  let served: TestDaemon | undefined;
  let good: RecorderPlugin;
  let slow: RecorderPlugin;
  beforeEach(async () => {
    stage = openStage(mixedInstallation);
    good = installRecorder(stage.plexus.cniPath, "good");
    good.script("ADD", address);
    slow = installRecorder(stage.plexus.cniPath, "slow");
    slow.script("ADD", address);
    const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
    served = daemon ? await startDaemon({ socket, args: ["--calls", "1"] }) : undefined;
  });
  afterEach(async () => {
    await served?.stop();
    stage.dispose();
  });

  const attaching = (containerId: string, callTimeoutMs: number): Attaching & { readonly pod: ReturnType<Stage["pod"]> } => ({
    config: stage.network([{ type: "good" }, { type: "slow" }], { callTimeoutMs }),
    containerId,
    pod: stage.pod(),
  });
  const call = (verb: string, { config, containerId, pod }: ReturnType<typeof attaching>) =>
    stage.request({
      verb,
      containerId,
      netns: pod.path,
      ifname: "eth0",
      config,
      ...(served === undefined ? {} : { env: { PLEXUS_SOCKET: served.socket } }),
    });

  /** Holds a container's lock, as another brain would; answers how to let go. */
  async function holdLock(containerId: string): Promise<() => Promise<unknown>> {
    const byte = containerByte({ containerId, network: "cluster", ifname: "eth0" });
    const lock = [locksPath(stage.plexus.state("cni")), "0", "exclusive", String(byte)];
    const holder = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", lockHolder, ...lock], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    return () => {
      holder.stdin.end("\n");
      return once(holder, "close");
    };
  }

  test("ADD is given up in time, and undone in what was kept, though undoing takes a while", async () => {
    slow.script("ADD", hanging);
    good.script("DEL", { sleepMs: 300 });
    const each = attaching("late", 8000);
    const added = await call("ADD", each);
    expect(added.json).toMatchObject({
      code: 11,
      msg: expect.stringMatching(/plugin .*\/slow did not end in what the call had left/),
    });
    expect(added.ms).toBeLessThan(30_000);
    expect([verbs(good), verbs(slow)]).toEqual([
      ["ADD", "DEL"],
      ["ADD", "DEL"],
    ]);
    expect(stage.left()).toEqual(nothing);
  });

  test("ADD whose undoing hangs, too, is answered all the same, and left to the next DEL", async () => {
    slow.script("ADD", hanging);
    slow.script("DEL", hanging, 1);
    const each = attaching("stuck", 8000);
    const added = await call("ADD", each);
    expect(added.json).toMatchObject({ code: 11, details: expect.stringContaining("the next DEL tries again") });
    expect(added.ms).toBeLessThan(30_000);
    expect(stage.left().state).toEqual(["journal/stuck@cluster@eth0"]);
    expect((await call("DEL", each)).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });

  test("DEL, whose plugin hangs, is told to the runtime in time, and its next one goes on", async () => {
    const each = attaching("held", 8000);
    expect((await call("ADD", each)).status).toBe(0);
    slow.script("DEL", hanging, 1);
    const deleted = await call("DEL", each);
    expect(deleted.json).toMatchObject({ code: 11 });
    expect(deleted.ms).toBeLessThan(30_000);
    expect((await call("DEL", each)).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });

  test("the wait for the container's lock counts", async () => {
    const each = attaching("locked", 2000);
    const release = await holdLock("locked");
    const refused = await call("ADD", each);
    expect(refused.json).toMatchObject({
      code: 11,
      msg: expect.stringContaining("another call held the lock of container locked"),
    });
    expect(refused.ms).toBeLessThan(30_000);
    await release();
    expect([good.calls(), stage.left()]).toEqual([[], nothing]);
  });

  if (!daemon) return;
  test("the wait for a turn counts: nothing is begun for a call whose time is over by then", async () => {
    const release = await holdLock("first");
    const first = call("ADD", attaching("first", 60_000));
    await expect.poll(() => metricsOf(served), { timeout: 20_000 }).toMatch(/plexus_queue_calls\{state="active"\} 1/);
    const second = call("ADD", attaching("second", 1));
    await expect.poll(() => metricsOf(served), { timeout: 20_000 }).toMatch(/plexus_queue_calls\{state="waiting"\} 1/);
    await release();
    expect((await second).json).toMatchObject({ code: 11, msg: expect.stringMatching(/waited \d+ ms .* may take 1 ms/) });
    expect((await first).status).toBe(0);
    expect(good.calls().map(({ env }) => env["CNI_CONTAINERID"])).toEqual(["first"]);
  });
});
