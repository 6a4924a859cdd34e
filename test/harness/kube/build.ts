// `node test/harness/kube/build.ts`: before the tests enter a network namespace without a way out, so that Go can fetch the
// modules. Says in one line where there will be no API server, and never fails.

import { apiServerBinary, buildApiServer, etcdBinary, kubeApi, unpackEtcd } from "./binaries.ts";

const wanted = process.env["PLEXUS_BUILD_APISERVER"] ?? "1";
const without = unpackEtcd();
if (without !== undefined) process.stderr.write(`plexus: etcd was not unpacked: ${without}\n`);
// It takes longer than all tests together: never for nothing.
if (apiServerBinary() === undefined && etcdBinary() !== undefined && wanted !== "0") {
  process.stderr.write(
    "plexus: building kube-apiserver for the tests (once: about 4 minutes of two cores; PLEXUS_BUILD_APISERVER=0 does without)\n",
  );
  const why = buildApiServer();
  if (why !== undefined) process.stderr.write(`plexus: kube-apiserver was not built: ${why}\n`);
}
const reason = kubeApi();
if (reason !== undefined) process.stderr.write(`plexus: tests against a Kubernetes API will be skipped: ${reason}\n`);
