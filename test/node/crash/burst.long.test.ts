// 150 concurrent ADDs, each with a native plugin of 55 MB. The plugins are not children of the daemon, and its queue limits how many run.

import { existsSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { installPlexus } from "../../lab/plexus.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { burst, servedAtOnce } from "../../lab/burst.ts";

const pods = 150;
/** Resident memory of one plugin in MiB. The daemon must grow by less. */
const pluginMiB = 52;

const childLists: Requirement = () =>
  existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
    ? undefined
    : "the kernel lists no children (CONFIG_PROC_CHILDREN)";

describe.skipIf(missing("a burst of pods", childLists))("a burst of pods", () => {
  test(
    `MO-28 MO-29 ${pods} concurrent calls with plugins of 55 MB wait in the queue, and the daemon does not grow by a plugin's memory`,
    { timeout: 180_000 },
    async () => {
      const plexus = installPlexus();
      try {
        const result = await burst(plexus, pods);
        process.stderr.write(`burst: ${JSON.stringify(result)}\n`);
        expect(result.failures).toEqual([]);
        expect(result.daemonChildren).toBe(0);
        // The number at one sample depends on the machine. The first plugins run until the queue is full.
        expect(result.plugins).toBeGreaterThan(0);
        expect(result.active).toBe(servedAtOnce);
        expect(result.waiting).toBeGreaterThan(0);
        expect(result.waited).toBeGreaterThanOrEqual(result.waiting);
        expect(result.highest - result.before).toBeLessThan(pluginMiB);
      } finally {
        plexus.dispose();
      }
    },
  );
});
