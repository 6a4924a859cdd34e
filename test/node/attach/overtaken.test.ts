// A nested call goes on in its sandbox process after its plugin was killed. The container's next call waits for the nested call's end:
// otherwise a DEL would run before the nested ADD makes its lease.

import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { missingForMixed, mixedInstallation, mixedNetwork } from "../../lab/mixed-network.ts";
import { signalled } from "../../lab/processes.ts";
import { sandboxProcesses } from "../../lab/sandbox-processes.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

/** Process ids of programs called `name` whose file lies below `directory`. A nested shim is called by a link in a file system of its parent. */
function running(name: string, directory: string): readonly number[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/u.test(pid))
    .map(Number)
    .filter((pid) => {
      try {
        const [first = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return readlinkSync(`/proc/${pid}/exe`).startsWith(directory) && basename(first) === name;
      } catch {
        return false;
      }
    });
}

/** The sandbox processes of a daemon, at least `least`, once their number has stayed the same for a second. */
async function settledSandboxes(daemon: number, least: number): Promise<readonly number[]> {
  const deadline = Date.now() + 120_000;
  for (let before: readonly number[] = []; Date.now() < deadline;) {
    const now = sandboxProcesses("guest-process.cjs", daemon);
    if (now.length >= least && now.join() === before.join()) return now;
    before = now;
    await setTimeout(1000);
  }
  throw new Error(`the daemon has no ${least} settled sandbox processes`);
}

describe.skipIf(missingForMixed("nested calls of killed plugins"))(
  "N1-67 L-46 A-08 a nested call whose plugin was killed",
  () => {
    let stage: Stage;
    let daemon: TestDaemon;
    beforeEach(async () => {
      stage = openStage(mixedInstallation);
      daemon = await startDaemon({ socket: join(stage.plexus.directory, "daemon", "plexus.sock"), args: ["--sandboxes", "2"] });
    });
    afterEach(async () => {
      await daemon.stop();
      stage.dispose();
    });

    test.each([0, 1])("ends before the runtime's DEL is served (first resumed sandbox: %j)", async (first) => {
      const call = (verb: string, containerId: string, pod: ReturnType<Stage["pod"]>) =>
        stage.request({
          verb,
          containerId,
          netns: pod.path,
          ifname: "eth0",
          config: mixedNetwork(stage),
          env: { PLEXUS_SOCKET: daemon.socket, PLEXUS_HOME: "/nowhere" },
        });
      const before = stage.pod();
      for (const verb of ["ADD", "DEL"]) expect((await call(verb, "before", before)).status).toBe(0);
      // Two of the components, and at least two that are started ahead. Each is the child of its launcher.
      const sandboxes = await settledSandboxes(daemon.pid, 4);
      for (const pid of sandboxes) signalled(pid, "SIGSTOP");
      const pod = stage.pod();
      const add = call("ADD", "late", pod);
      // The bridge plugin called its IPAM delegate, whose sandbox process is stopped.
      await expect.poll(() => running("ipam-host-local", stage.plexus.directory).length).toBe(1);
      await setTimeout(300);
      const [shim = 0] = running("plexus", stage.plexus.directory);
      expect(signalled(shim, "SIGKILL")).toBe(true);
      expect((await add).status).toBe(137);
      const del = call("DEL", "late", pod);
      const order = first === 0 ? sandboxes : sandboxes.toReversed();
      for (const pid of order) {
        process.kill(pid, "SIGCONT");
        await Promise.race([del, setTimeout(1000)]);
      }
      expect((await del).status).toBe(0);
      expect(stage.left()).toEqual(nothing);
    });
  },
);
