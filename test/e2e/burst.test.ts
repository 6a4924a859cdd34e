// 150 pods at once, each with a native plugin of 55 MB: the plugins are not the daemon's children, and its queue holds them back.

import { existsSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { installPlexus } from "../harness/plexus.ts";
import { missing, type Requirement } from "../harness/requires.ts";
import { burst, servedAtOnce } from "./burst.ts";

const pods = 150;
/** What one plugin needs, in MiB: less than that the daemon may grow. */
const onePlugin = 52;

const childLists: Requirement = () =>
  existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
    ? undefined
    : "the kernel lists no children (CONFIG_PROC_CHILDREN)";

describe.skipIf(missing("a burst of pods", childLists))("a burst of pods", () => {
  test(
    `MO-28 MO-29 ${pods} at once, each with a plugin of 55 MB, wait for their turn, and the daemon's memory is not theirs`,
    { timeout: 180_000 },
    async () => {
      const plexus = installPlexus();
      try {
        const seen = await burst(plexus, pods);
        process.stderr.write(`burst: ${JSON.stringify(seen)}\n`);
        expect(seen.failures).toEqual([]);
        expect(seen.ofTheDaemon).toBe(0);
        // How many at a look depends on the machine: where a WELCOME takes too long, the hands start a brain of their own.
        expect(seen.plugins).toBeGreaterThan(0);
        expect(seen.active).toBe(servedAtOnce);
        expect(seen.waiting).toBeGreaterThan(0);
        expect(seen.waited).toBeGreaterThanOrEqual(seen.waiting);
        expect(seen.highest - seen.before).toBeLessThan(onePlugin);
      } finally {
        plexus.dispose();
      }
    },
  );
});
