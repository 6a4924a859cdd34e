// A daemon on a disk that hangs when it is to sync, or fails to: the default network's steps don't wait for it, all else does. strace makes
// such a disk of a good one.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../harness/daemon.ts";
import { installRecorder, type RecorderPlugin } from "../harness/recorder.ts";
import { missing, strace } from "../harness/requires.ts";
import { missingForMixed, mixedInstallation } from "./mixed-network.ts";
import { nothing, openStage, type Stage } from "./stage.ts";

describe.skipIf(missing("a daemon's disk", strace) || missingForMixed("a daemon's disk"))("a daemon whose disk", () => {
  let stage: Stage;
  let daemon: TestDaemon;
  let plugin: RecorderPlugin;
  let disk: ChildProcess | undefined;
  beforeEach(async () => {
    stage = openStage(mixedInstallation);
    daemon = await startDaemon({ socket: join(stage.plexus.directory, "daemon", "plexus.sock") });
    plugin = installRecorder(stage.plexus.cniPath, "recorder");
    plugin.script("ADD", { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
  });
  afterEach(async () => {
    await heal();
    await daemon.stop();
    stage.dispose();
  });

  /** From here on every fsync of the daemon ends like this. */
  async function make(syncs: string): Promise<void> {
    const options = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", `inject=fsync:${syncs}`];
    disk = spawn("strace", [...options, "-p", String(daemon.pid)], { stdio: "ignore" });
    const isTraced = () => !/^TracerPid:\t0$/m.test(readFileSync(`/proc/${daemon.pid}/status`, "utf8"));
    await expect.poll(isTraced, { timeout: 5000 }).toBe(true);
  }

  async function heal(): Promise<void> {
    if (disk === undefined) return;
    const ended = once(disk, "exit");
    disk.kill("SIGINT");
    await ended;
    disk = undefined;
  }

  const pods = new Map<string, { readonly path: string }>();
  const call = (verb: string, containerId: string, networks = 1) => {
    const pod = pods.get(containerId) ?? stage.pod();
    pods.set(containerId, pod);
    const delegates = Array.from({ length: networks }, (_, index) => ({
      cniVersion: "1.0.0",
      name: `network${index}`,
      plugins: [{ type: "recorder" }],
    }));
    const config = stage.host({ delegates });
    const env = { PLEXUS_SOCKET: daemon.socket };
    return stage.request({ verb, containerId, netns: pod.path, ifname: "eth0", config, env });
  };
  const verbs = () => plugin.calls().map(({ env }) => env["CNI_COMMAND"]);

  test.each([1, 2])("hangs attaches the default network; more, and the answer, wait (%i networks)", async (networks) => {
    await make("delay_enter=60000000");
    let answered = false;
    const answer = call("ADD", "slow", networks).finally(() => (answered = true));
    await expect.poll(() => verbs(), { timeout: 10_000 }).toEqual(["ADD"]);
    await setTimeout(300);
    expect([verbs(), answered]).toEqual([["ADD"], false]);
    await heal();
    expect((await answer).status).toBe(0);
    expect(verbs()).toEqual(Array(networks).fill("ADD"));
    expect((await call("DEL", "slow", networks)).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });

  test("fails undoes what was begun and says which file could not be kept; once it is well the pod comes", async () => {
    await make("error=EIO");
    // The second network is never begun.
    const refused = await call("ADD", "bad", 2);
    expect(refused.status).toBe(1);
    expect(refused.json).toMatchObject({ code: 5, msg: expect.stringMatching(/journal\/bad@.*EIO/) });
    expect(verbs()).toEqual(["ADD", "DEL"]);
    expect(stage.left()).toEqual(nothing);
    await heal();
    expect((await call("ADD", "bad")).status).toBe(0);
    expect((await call("DEL", "bad")).status).toBe(0);
    expect(verbs()).toEqual(["ADD", "DEL", "ADD", "DEL"]);
  });
});
