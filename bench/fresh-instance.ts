// fresh-instance: the fixed cost of a delegate's call (a new instance, lowering the request, lifting the answer), against
// the fixed cost of a native plugin's call, which is a process.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Admission } from "../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../host/sandbox/in-process.ts";
import { limitsOf } from "../host/sandbox/limits.ts";
import { dist, missingBuild } from "../test/lab/plexus.ts";
import { inTurns, timed, type Benchmark } from "./measure.ts";
import { startStopwatch } from "./stopwatch.ts";

export const freshInstance: Benchmark = {
  id: "fresh-instance",
  title: "DEL of the WASM status-shaper on a new instance / a process that does nothing (/bin/true)",
  target: "under 0.5 ms",
  async sample() {
    const lacking = missingBuild({ components: ["status-shaper"], engine: false });
    if (lacking !== undefined) return lacking;
    const limits = limitsOf({});
    const bytes = readFileSync(join(dist, "delegates", "status-shaper.wasm"));
    const admitted = new Admission().admit(bytes, { granted: ["log"], limits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    const runner = new InProcessRunner();
    const request = {
      call: { remainingMs: 2000, granted: ["log"] },
      network: { cniVersion: "1.0.0", name: "bench", config: '{"cniVersion":"1.0.0","name":"bench","type":"status-shaper"}' },
      attachment: { containerId: "bench", ifname: "eth0", args: [] },
    };
    const imports = { log: { write: () => {} } };
    const stopwatch = startStopwatch();
    try {
      return await inTurns({
        subject: timed(async () => {
          const answer = await runner.call(
            { component: admitted.value, verb: "del", request, limits, deadlineMs: 2000 },
            imports,
          );
          if (!answer.ok) throw new Error(answer.fault.msg);
        }),
        baseline: stopwatch.program({ argv: ["/bin/true"] }),
        warmUp: 50,
        samples: 500,
      });
    } finally {
      await stopwatch.dispose();
      await runner.close();
    }
  },
};
