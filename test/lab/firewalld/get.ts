// `node test/lab/firewalld/get.ts` gets firewalld before the tests enter a network namespace without a route. The program never fails: without firewalld it
// prints one line.

import { firewalldRuns, unpackFirewalld } from "./firewalld.ts";

const failure = unpackFirewalld() ?? firewalldRuns();
if (failure !== undefined) process.stderr.write(`plexus: tests with firewalld will be skipped: ${failure}\n`);
