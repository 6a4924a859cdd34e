// daemon-burst: by how much the daemon grows while 150 pods come at once, each with a native plugin of 55 MB.

import { burst, servedAtOnce } from "../e2e/burst.ts";
import { installPlexus, missingBuild } from "../harness/plexus.ts";
import type { Benchmark } from "./measure.ts";

const pods = 150;
const pluginMiB = 55_000_000 / 2 ** 20;

export const burstBenchmark: Benchmark = {
  id: "daemon-burst",
  title: `growth of the daemon's highest resident set while ${pods} pods come at once, ${servedAtOnce} of them served at a time, each with a native plugin of 55 MB / one such plugin`,
  target: "less than one plugin: they are not its children",
  unit: "MiB",
  async sample() {
    const lacking = missingBuild();
    if (lacking !== undefined) return lacking;
    const plexus = installPlexus();
    try {
      const { failures, before, highest, waiting, ofTheDaemon } = await burst(plexus, pods);
      const [first] = failures;
      if (first !== undefined) throw new Error(`${failures.length} calls failed: ${first}`);
      if (waiting === 0 || ofTheDaemon > 0)
        throw new Error(`${waiting} calls waited, ${ofTheDaemon} plugins were the daemon's children`);
      return { subject: [highest - before], baseline: [pluginMiB] };
    } finally {
      plexus.dispose();
    }
  },
};
