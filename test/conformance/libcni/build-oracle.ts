// `node test/conformance/libcni/build-oracle.ts`: before the tests enter a network namespace without a way out, so that
// Go can fetch its one module. Does nothing, successfully, where there is no Go.

import { whyNoOracle } from "./oracle.ts";

const reason = whyNoOracle();
if (reason !== undefined) process.stderr.write(`plexus: comparison with Go's libcni will be skipped: ${reason}\n`);
