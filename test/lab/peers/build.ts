// `node test/lab/peers/build.ts` runs before `npm run test:peers` enters a network namespace without a route, so that Go can fetch the modules.
// Without Go it prints one line for each module, and the tests are skipped.

import { buildModule } from "./build-module.ts";
import { goModules, peersBuilt } from "./go-modules.ts";

for (const module of goModules) {
  if (peersBuilt(module)() === undefined) continue;
  process.stderr.write(`plexus: building the tests of ${module.path} ${module.release} (once: about a minute of two cores)\n`);
  const failure = buildModule(module);
  if (failure !== undefined) process.stderr.write(`plexus: the tests were not built: ${failure}\n`);
}
