// `node test/lab/build-newer-plugins.ts` runs before the tests enter a network namespace without a route, so that Go can fetch the
// module. The program never fails: without newer reference plugins it prints one line. PLEXUS_BUILD_PLUGINS=0 skips the build.

import { buildNewerPlugins, newer, newerRelease } from "./newer-plugins.ts";

if (newer() !== undefined && process.env["PLEXUS_BUILD_PLUGINS"] !== "0") {
  process.stderr.write(`plexus: building the reference plugins ${newerRelease} (once: about half a minute of two cores)\n`);
  const failure = buildNewerPlugins();
  if (failure !== undefined) process.stderr.write(`plexus: the reference plugins were not built: ${failure}\n`);
}
const reason = newer();
if (reason !== undefined) process.stderr.write(`plexus: comparisons with these plugins will be skipped: ${reason}\n`);
