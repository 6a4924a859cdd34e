// `node test/node/conformance/libcni/build-oracle.ts` runs before the tests enter a network namespace without internet access,
// so that Go can fetch the oracle's single module. Without Go it exits with status 0 and does nothing.

import { missingOracle } from "./oracle.ts";

const reason = missingOracle();
if (reason !== undefined) process.stderr.write(`plexus: the comparison with Go's libcni will be skipped: ${reason}\n`);
