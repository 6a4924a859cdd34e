// ipam-step: a warm WASM IPAM step against executing native host-local, both measured in the engine. The step includes its
// instance, its leases on disk and their flock.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { dist, missingBuild } from "../test/lab/plexus.ts";
import { referencePlugin } from "../test/lab/requires.ts";
import type { IpamEngineRequest } from "./ipam-engine.ts";
import type { Benchmark, Samples } from "./measure.ts";

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}

/** The samples in the engine's answer. */
function samplesOf(text: string): Samples {
  const value: unknown = JSON.parse(text);
  if (typeof value === "object" && value !== null && "subject" in value && "baseline" in value) {
    const { subject, baseline } = value;
    if (isNumbers(subject) && isNumbers(baseline)) return { subject, baseline };
  }
  throw new Error(`the engine answered ${text.slice(0, 500)}`);
}

export const ipamStep: Benchmark = {
  id: "ipam-step",
  title: "warm WASM ipam-host-local ADD of one IPv4 range, instance and flock included / exec of native host-local ADD",
  target: "under 1 ms, ratio ≤ 0.2",
  async sample() {
    const missingReason = missingBuild({ components: ["ipam-host-local"], engine: false });
    if (missingReason !== undefined) return missingReason;
    const hostLocal = referencePlugin("host-local");
    if (hostLocal === undefined) return "no reference plugin host-local";
    const directory = mkdtempSync(join(tmpdir(), "plexus-bench-ipam-"));
    try {
      // PLEXUS_HOME with ipam-engine as its engine: the shim starts it like any one-shot engine.
      const home = join(directory, "home");
      const cniPath = join(directory, "cni");
      mkdirSync(join(home, "bin"), { recursive: true });
      mkdirSync(cniPath);
      symlinkSync(process.execPath, join(home, "bin", "node"));
      symlinkSync(hostLocal, join(cniPath, "host-local"));
      writeFileSync(join(home, "plexusd.cjs"), `import(${JSON.stringify(new URL("ipam-engine.ts", import.meta.url).href)});\n`);
      const request: IpamEngineRequest = {
        component: join(dist, "delegates", "ipam-host-local.wasm"),
        leases: join(directory, "leases"),
        warmUp: 1500,
        samples: 300,
      };
      const stdout = execFileSync(join(dist, "plexus"), [], {
        input: JSON.stringify(request),
        env: { PLEXUS_HOME: home, PLEXUS_SOCKET: join(directory, "no-daemon"), CNI_COMMAND: "ADD", CNI_PATH: cniPath },
        encoding: "utf8",
        stdio: ["pipe", "pipe", "inherit"],
      });
      return samplesOf(stdout);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};
