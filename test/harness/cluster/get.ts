// `node test/harness/cluster/get.ts` gets busybox for the pods of test clusters, before the tests enter a network namespace without a route.
// The program never fails: without busybox it prints one line.

import { unpackBusybox } from "./images.ts";

const failure = unpackBusybox();
if (failure !== undefined)
  process.stderr.write(`plexus: busybox was not unpacked, tests on a cluster will be skipped: ${failure}\n`);
