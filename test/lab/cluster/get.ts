// `node test/lab/cluster/get.ts` gets busybox for the pods of test clusters and a registry for their components, before the tests enter a
// network namespace without a route. The program never fails: for each program that is missing it prints one line.

import { unpackRegistry } from "../registry/programs.ts";
import { unpackBusybox } from "./images.ts";

const failure = unpackBusybox();
if (failure !== undefined) process.stderr.write(`plexus: busybox was not unpacked, tests that need it are skipped: ${failure}\n`);
const withoutRegistry = unpackRegistry();
if (withoutRegistry !== undefined) process.stderr.write(`plexus: docker-registry was not unpacked: ${withoutRegistry}\n`);
