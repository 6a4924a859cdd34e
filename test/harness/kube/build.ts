// `node test/harness/kube/build.ts`: before the tests enter a network namespace without a way out, so that Go can fetch the
// modules. Says in one line where there will be no API server, and never fails.

import { apiServerBinary, buildApiServer, kubeApi } from "./binaries.ts";

const wanted = process.env["PLEXUS_BUILD_APISERVER"] ?? "1";
if (apiServerBinary() === undefined && wanted !== "0") {
  process.stderr.write(
    "plexus: building kube-apiserver for the tests (once: about 4 minutes of two cores; PLEXUS_BUILD_APISERVER=0 does without)\n",
  );
  const why = buildApiServer();
  if (why !== undefined) process.stderr.write(`plexus: kube-apiserver was not built: ${why}\n`);
}
const reason = kubeApi();
if (reason !== undefined) process.stderr.write(`plexus: tests against a Kubernetes API will be skipped: ${reason}\n`);
