// `node test/lab/podman/get.ts` gets podman before the tests enter a network namespace without a route. The program never fails: without podman it
// prints one line.

import { podmanWithCni, unpackPodman } from "./podman-programs.ts";

const failure = unpackPodman() ?? podmanWithCni();
if (failure !== undefined) process.stderr.write(`plexus: tests with podman will be skipped: ${failure}\n`);
