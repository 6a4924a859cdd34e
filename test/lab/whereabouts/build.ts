// `node test/lab/whereabouts/build.ts` runs before a test or benchmark enters a network namespace without internet access, so that Go can fetch
// the module. It prints one line if there is no whereabouts, and never fails.

import { buildWhereabouts } from "./whereabouts-binary.ts";

const why = buildWhereabouts();
if (why !== undefined) process.stderr.write(`plexus: tests and comparisons with whereabouts will be skipped: ${why}\n`);
