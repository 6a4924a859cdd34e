// hands-rss: the highest resident set of the hands in a real call, seen while they wait for a native plugin.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { programOf } from "../e2e/processes.ts";
import { startDaemon } from "../harness/daemon.ts";
import { installPlexus, missingBuild } from "../harness/plexus.ts";
import { installRecorder } from "../harness/recorder.ts";
import type { Benchmark } from "./measure.ts";
import { highestRssMiB } from "./observed-daemon.ts";

const most = 2;
const times = 10;

export const handsMemory: Benchmark = {
  id: "hands-rss",
  title: "highest resident set (VmHWM) of the hands in an ADD with one native plugin, seen while that one runs / its bound",
  target: `at most ${most} MiB`,
  unit: "MiB",
  async sample() {
    const lacking = missingBuild();
    if (lacking !== undefined) return lacking;
    const plexus = installPlexus();
    const slow = installRecorder(plexus.cniPath, "slow");
    const answer = '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}';
    slow.script("ADD", { sleepMs: 150, stdout: answer });
    const daemon = await startDaemon({ socket: join(plexus.directory, "daemon", "plexus.sock") });
    const config = {
      cniVersion: "1.0.0",
      name: "hands",
      type: "plexus",
      cniDir: plexus.state("lib"),
      runDir: plexus.runState("run"),
      delegates: [{ cniVersion: "1.0.0", name: "slow", plugins: [{ type: "slow" }] }],
    };
    const seen: number[] = [];
    try {
      for (let number = 0; number < times; number++) {
        const call = { containerId: `hands-${number}`, netns: "/run/netns/none", ifname: "eth0", config };
        const env = { PLEXUS_SOCKET: daemon.socket };
        slow.clear();
        const added = plexus.call({ verb: "ADD", ...call, env });
        const plugin = await firstCall(slow.calls);
        // The plugin's parent is the hands.
        const hands = parentOf(plugin);
        if (programOf(hands) !== join(plexus.cniPath, "plexus")) throw new Error("the plugin's parent is not the hands");
        seen.push(highestRssMiB(hands));
        if ((await added).status !== 0) throw new Error((await added).stdout);
        await plexus.call({ verb: "DEL", ...call, env });
      }
      return { subject: seen, baseline: [most] };
    } finally {
      await daemon.stop();
      plexus.dispose();
    }
  },
};

/** The pid of the plugin's first call, once it says that it runs. */
async function firstCall(calls: () => readonly { readonly pid: number }[]): Promise<number> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const [first] = calls();
    if (first !== undefined) return first.pid;
    if (Date.now() > deadline) throw new Error("the plugin was not called");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
