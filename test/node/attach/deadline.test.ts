// callTimeoutMs (RT-08): Plexus gives a call up before the runtime does, and reserves a part of the time for the undo. The slow plugins
// never end, so that only a call with a deadline is answered.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { once } from "node:events";
import { get } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { containerByte, locksPath } from "../../../host/engine/call/call-locks.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { buildWat } from "../../hostile/components/wat.ts";
import { withGrowingLimit } from "../../lab/growing-limit.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

const address = { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' };
const lockHolder = fileURLToPath(new URL("../../../host/store/locks/fixtures/holder.ts", import.meta.url));

function verbs({ calls }: RecorderPlugin): readonly (string | undefined)[] {
  return calls().map(({ env }) => env["CNI_COMMAND"]);
}

/** The daemon's metrics, from its status socket. */
async function metricsOf(daemon: TestDaemon | undefined): Promise<string> {
  if (daemon === undefined) return "";
  const request = get({ socketPath: join(dirname(daemon.socket), "status.sock"), path: "/metrics" });
  const [response] = await once(request, "response");
  return text(response);
}

describe.skipIf(missingForMixed("deadlines of calls")).each([false, true])(
  "RT-08 the deadline of a call, with a daemon: %j",
  (daemon) => {
    let stage: Stage;
    let runningDaemon: TestDaemon | undefined;
    let fast: RecorderPlugin;
    let slow: RecorderPlugin;
    async function open(): Promise<void> {
      stage = openStage({ ...mixedInstallation, serving: daemon ? "daemon" : "one-shot" });
      fast = installRecorder(stage.plexus.cniPath, "fast");
      fast.script("ADD", address);
      slow = installRecorder(stage.plexus.cniPath, "slow");
      slow.script("ADD", address);
      const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
      runningDaemon = daemon ? await startDaemon({ socket, args: ["--calls", "1"] }) : undefined;
    }
    async function close(): Promise<void> {
      await runningDaemon?.stop();
      stage.dispose();
    }
    async function reopen(): Promise<void> {
      await close();
      await open();
    }
    beforeEach(open);
    afterEach(close);

    const attaching = (containerId: string, callTimeoutMs: number): Attaching & { readonly pod: ReturnType<Stage["pod"]> } => ({
      config: stage.network([{ type: "fast" }, { type: "slow" }], { callTimeoutMs }),
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
        ...(runningDaemon === undefined ? {} : { env: { PLEXUS_SOCKET: runningDaemon.socket } }),
      });

    /** Takes a container's lock, as another engine would, and answers the function that releases the lock. */
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

    test("ADD with a slow plugin fails before the deadline and is undone in the reserved time", async () => {
      await withGrowingLimit(
        8000,
        async (limitMs) => {
          slow.hold("ADD");
          fast.script("DEL", { sleepMs: 300 });
          const attachment = attaching("late", limitMs);
          const added = await call("ADD", attachment);
          expect(added.json).toMatchObject({
            code: 11,
            msg: expect.stringMatching(/plugin .*\/slow did not end within the call's remaining time/),
          });
          expect([verbs(fast), verbs(slow)]).toEqual([
            ["ADD", "DEL"],
            ["ADD", "DEL"],
          ]);
          expect(stage.left()).toEqual(nothing);
        },
        reopen,
      );
    });

    test("ADD with a component that computes until the deadline fails with code 11", async () => {
      await withGrowingLimit(
        6000,
        async (limitMs) => {
          writeFileSync(join(stage.plexus.cniPath, "spin.wasm"), await buildWat("spin"));
          const limits = { callTimeoutMs: limitMs, wasm: { limits: { timeMs: 60_000 } } };
          const config = stage.network([{ type: "spin" }], limits);
          const added = await call("ADD", { ...attaching("computes", limitMs), config });
          expect(added.json).toMatchObject({
            code: 11,
            msg: expect.stringMatching(/spin: the component did not end within the call's remaining time, \d+ ms/),
          });
        },
        reopen,
      );
    });

    test("ADD is answered before the deadline even if its undo hangs; the next DEL finishes the undo", async () => {
      await withGrowingLimit(
        8000,
        async (limitMs) => {
          slow.hold("ADD");
          slow.hold("DEL", 1);
          const attachment = attaching("stuck", limitMs);
          const added = await call("ADD", attachment);
          expect(added.json).toMatchObject({ code: 11, details: expect.stringContaining("the next DEL tries again") });
          expect(stage.left().state).toEqual(["journal/stuck@cluster@eth0"]);
          expect((await call("DEL", attachment)).status).toBe(0);
          expect(stage.left()).toEqual(nothing);
        },
        reopen,
      );
    });

    test("DEL with a slow plugin fails before the deadline, and the next DEL succeeds", async () => {
      await withGrowingLimit(
        8000,
        async (limitMs) => {
          const attachment = attaching("held", limitMs);
          expect((await call("ADD", attachment)).status).toBe(0);
          slow.hold("DEL", 1);
          const deleted = await call("DEL", attachment);
          expect(deleted.json).toMatchObject({ code: 11 });
          expect((await call("DEL", attachment)).status).toBe(0);
          expect(stage.left()).toEqual(nothing);
        },
        reopen,
      );
    });

    test("the wait for the container's lock counts as time of the call", async () => {
      await withGrowingLimit(
        2000,
        async (limitMs) => {
          const attachment = attaching("locked", limitMs);
          const release = await holdLock("locked");
          const refused = await call("ADD", attachment);
          expect(refused.json).toMatchObject({
            code: 11,
            msg: expect.stringContaining("another call held the lock of container locked"),
          });
          await release();
          expect([fast.calls(), stage.left()]).toEqual([[], nothing]);
        },
        reopen,
      );
    });

    if (!daemon) return;
    test("the wait in the daemon's queue counts as time of the call, and a late call executes no plugin", async () => {
      const release = await holdLock("first");
      const first = call("ADD", attaching("first", 60_000));
      await expect.poll(() => metricsOf(runningDaemon)).toMatch(/plexus_queue_calls\{state="active"\} 1/);
      const second = call("ADD", attaching("second", 1));
      await expect.poll(() => metricsOf(runningDaemon)).toMatch(/plexus_queue_calls\{state="waiting"\} 1/);
      await release();
      expect((await second).json).toMatchObject({ code: 11, msg: expect.stringMatching(/waited \d+ ms .* may take 1 ms/) });
      expect((await first).status).toBe(0);
      expect(fast.calls().map(({ env }) => env["CNI_CONTAINERID"])).toEqual(["first"]);
    });
  },
);
