// shim-rss: the maximum resident set of the shim in a real call, read while it waits for a native plugin.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { programOf } from "../test/lab/processes.ts";
import { startDaemon } from "../test/lab/daemon.ts";
import { installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { installRecorder } from "../test/lab/recorder.ts";
import type { Benchmark } from "./measure.ts";
import { highestRssMiB } from "./observed-daemon.ts";

const maxMiB = 2;
const times = 10;

export const shimMemory: Benchmark = {
  id: "shim-rss",
  title: "maximum resident set (VmHWM) of the shim in an ADD with one native plugin, read while that plugin runs / its bound",
  target: `at most ${maxMiB} MiB`,
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
      name: "shim",
      type: "plexus",
      cniDir: plexus.state("lib"),
      runDir: plexus.runState("run"),
      delegates: [{ cniVersion: "1.0.0", name: "slow", plugins: [{ type: "slow" }] }],
    };
    const samples: number[] = [];
    try {
      for (let number = 0; number < times; number++) {
        const call = { containerId: `shim-${number}`, netns: "/run/netns/none", ifname: "eth0", config };
        const env = { PLEXUS_SOCKET: daemon.socket };
        slow.clear();
        const added = plexus.call({ verb: "ADD", ...call, env });
        const plugin = await firstCall(slow.calls);
        // The plugin's parent is the shim.
        const shim = parentOf(plugin);
        if (programOf(shim) !== join(plexus.cniPath, "plexus")) throw new Error("the plugin's parent is not the shim");
        samples.push(highestRssMiB(shim));
        if ((await added).status !== 0) throw new Error((await added).stdout);
        await plexus.call({ verb: "DEL", ...call, env });
      }
      return { subject: samples, baseline: [maxMiB] };
    } finally {
      await daemon.stop();
      plexus.dispose();
    }
  },
};

/** The pid of the plugin's first call. Throws if the plugin is not called in time. */
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
