// A daemon whose fsync hangs or fails. The default network's plugins run before the journal entry is on the disk. Further networks and the
// reply to the runtime wait for the disk. strace delays the fsync calls, or lets them fail.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { missing, strace } from "../../lab/requires.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

describe.skipIf(missing("slow disk", strace) || missingForMixed("slow disk"))("a daemon whose disk", () => {
  let stage: Stage;
  let daemon: TestDaemon;
  let plugin: RecorderPlugin;
  let tracer: ChildProcess | undefined;
  beforeEach(async () => {
    stage = openStage(mixedInstallation);
    daemon = await startDaemon({ socket: join(stage.plexus.directory, "daemon", "plexus.sock") });
    plugin = installRecorder(stage.plexus.cniPath, "recorder");
    plugin.script("ADD", { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
  });
  afterEach(async () => {
    await endInjection();
    await daemon.stop();
    stage.dispose();
  });

  /** Injects a delay or an error into every later fsync of the daemon. `injection` is that of strace -e inject. */
  async function injectFsync(injection: string): Promise<void> {
    const options = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", `inject=fsync:${injection}`];
    tracer = spawn("strace", [...options, "-p", String(daemon.pid)], { stdio: "ignore" });
    const isTraced = () => !/^TracerPid:\t0$/m.test(readFileSync(`/proc/${daemon.pid}/status`, "utf8"));
    await expect.poll(isTraced).toBe(true);
  }

  async function endInjection(): Promise<void> {
    if (tracer === undefined) return;
    const ended = once(tracer, "exit");
    tracer.kill("SIGINT");
    await ended;
    tracer = undefined;
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

  test.each([1, 2])(
    "hangs runs the default network's plugin at once; the reply and further networks wait (networks: %i)",
    async (networks) => {
      await injectFsync("delay_enter=60000000");
      let answered = false;
      const answer = call("ADD", "slow", networks).finally(() => (answered = true));
      await expect.poll(() => verbs()).toEqual(["ADD"]);
      await setTimeout(300);
      expect([verbs(), answered]).toEqual([["ADD"], false]);
      await endInjection();
      expect((await answer).status).toBe(0);
      expect(verbs()).toEqual(Array(networks).fill("ADD"));
      expect((await call("DEL", "slow", networks)).status).toBe(0);
      expect(stage.left()).toEqual(nothing);
    },
  );

  test("fails undoes the ADD and names the journal entry; the next ADD with a working disk succeeds", async () => {
    await injectFsync("error=EIO");
    // The second network's plugin never runs, because that network waits for the fsync.
    const refused = await call("ADD", "bad", 2);
    expect(refused.status).toBe(1);
    expect(refused.json).toMatchObject({ code: 5, msg: expect.stringMatching(/journal\/bad@.*EIO/) });
    expect(verbs()).toEqual(["ADD", "DEL"]);
    expect(stage.left()).toEqual(nothing);
    await endInjection();
    expect((await call("ADD", "bad")).status).toBe(0);
    expect((await call("DEL", "bad")).status).toBe(0);
    expect(verbs()).toEqual(["ADD", "DEL", "ADD", "DEL"]);
  });
});
