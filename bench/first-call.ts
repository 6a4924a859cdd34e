// daemon-first-call: the first ADD of a new daemon that knows the components of its last run, against a daemon without a
// last run. The chain is WASM IPAM and a WASM step, without links.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { startDaemon } from "../test/lab/daemon.ts";
import { installPlexus, missingBuild } from "../test/lab/plexus.ts";
import { inTurns, type Benchmark } from "./measure.ts";

const components = ["ipam-host-local", "status-shaper"];

/** Milliseconds between the daemon's start and the first call, since a runtime's first call rarely follows at once. */
const restMs = 1_500;

export const firstCall: Benchmark = {
  id: "daemon-first-call",
  title: "first ADD of a daemon that knows the components of its last run / of a daemon without a last run; two WASM steps",
  target: "ratio under 1",
  async sample() {
    const lacking = missingBuild({ components });
    if (lacking !== undefined) return lacking;
    const plexus = installPlexus({ components });
    const leases = plexus.state("leases");
    const state = plexus.state("daemon");
    const grants = {
      "ipam-host-local": { log: {}, leases: { directories: [leases] }, resolver: {} },
      "status-shaper": { log: {} },
    };
    const plugins = [
      { type: "ipam-host-local", ipam: { type: "ipam-host-local", subnet: "10.73.0.0/16" } },
      { type: "status-shaper", dns: { nameservers: ["10.0.0.1"] } },
    ];
    const config = {
      cniVersion: "1.0.0",
      name: "first",
      type: "plexus",
      cniDir: plexus.state("lib"),
      runDir: plexus.runState("run"),
      wasm: { grants },
      delegates: [{ cniVersion: "1.0.0", name: "pods", plugins }],
    };
    const socket = join(plexus.directory, "daemon", "plexus.sock");
    const call = { containerId: "first", netns: "/run/netns/none", ifname: "eth0", config, env: { PLEXUS_SOCKET: socket } };
    const first = async (): Promise<number> => {
      const daemon = await startDaemon({ socket, args: ["--state-dir", state] });
      try {
        await new Promise((resolve) => setTimeout(resolve, restMs));
        const added = await plexus.call({ verb: "ADD", ...call });
        if (added.status !== 0) throw new Error(`ADD: ${added.stdout}`);
        const deleted = await plexus.call({ verb: "DEL", ...call });
        if (deleted.status !== 0) throw new Error(`DEL: ${deleted.stdout}`);
        return added.ms;
      } finally {
        await daemon.stop();
      }
    };
    try {
      await first();
      return await inTurns({
        subject: first,
        baseline: async () => {
          rmSync(join(state, "components"), { recursive: true, force: true });
          return first();
        },
        warmUp: 1,
        samples: 10,
      });
    } finally {
      plexus.dispose();
    }
  },
};
