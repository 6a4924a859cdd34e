// daemon-burst: the growth of the daemon's memory during 150 ADDs at once, each with a native plugin of 55 MB.

import { burst, servedAtOnce } from "../test/lab/burst.ts";
import { installPlexus, missingBuild } from "../test/lab/plexus.ts";
import type { Benchmark } from "./measure.ts";

const pods = 150;
const pluginMiB = 55_000_000 / 2 ** 20;

export const burstBenchmark: Benchmark = {
  id: "daemon-burst",
  title: `growth of the daemon's maximum resident set during ${pods} ADDs at once, of which it serves ${servedAtOnce} at a time, each with a native plugin of 55 MB / one such plugin`,
  target: "less than one plugin: plugins are not the daemon's children",
  unit: "MiB",
  async sample() {
    const missingReason = missingBuild();
    if (missingReason !== undefined) return missingReason;
    const plexus = installPlexus();
    try {
      const { failures, before, highest, waiting, daemonChildren } = await burst(plexus, pods);
      const [first] = failures;
      if (first !== undefined) throw new Error(`${failures.length} calls failed: ${first}`);
      if (waiting === 0 || daemonChildren > 0)
        throw new Error(`${waiting} calls waited, ${daemonChildren} plugins were the daemon's children`);
      return { subject: [highest - before], baseline: [pluginMiB] };
    } finally {
      plexus.dispose();
    }
  },
};
