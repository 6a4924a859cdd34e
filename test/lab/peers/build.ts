// `node test/lab/peers/build.ts` runs before `npm run test:peers` enters a network namespace without a route, so that Go can fetch the module.
// Without Go it prints one line, and the tests are skipped.

import { buildReferenceSuites, referenceSuitesBuilt, suiteRelease } from "./reference-suites.ts";

if (referenceSuitesBuilt() !== undefined) {
  process.stderr.write(
    `plexus: building the specifications of the reference plugins ${suiteRelease} (once: about a minute of two cores)\n`,
  );
  const failure = buildReferenceSuites();
  if (failure !== undefined) process.stderr.write(`plexus: the specifications were not built: ${failure}\n`);
}
