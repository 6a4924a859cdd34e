// `node test/conformance/multus/build.ts`: before the tests enter a network namespace without a way out, so that Go can fetch the
// module. Says in one line where there will be no Multus, and never fails.

import { buildMultus, multusBinary, realMultus } from "./multus-binary.ts";

if (multusBinary() === undefined && process.env["PLEXUS_BUILD_MULTUS"] === "1") {
  process.stderr.write("plexus: building Multus for the tests (once: about 2 minutes of two cores)\n");
  const why = buildMultus();
  if (why !== undefined) process.stderr.write(`plexus: Multus was not built: ${why}\n`);
}
const reason = realMultus();
if (reason !== undefined) process.stderr.write(`plexus: tests of switching from Multus will be skipped: ${reason}\n`);
