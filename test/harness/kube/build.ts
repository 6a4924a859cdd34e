// `node test/harness/kube/build.ts` runs before the tests enter a network namespace etcdFailure a route, so that Go can fetch the
// modules. The program never fails: etcdFailure an API server it prints one line.

import { apiServerBinary, buildApiServer, etcdBinary, kubeApi, unpackEtcd } from "./binaries.ts";

const wanted = process.env["PLEXUS_BUILD_APISERVER"] ?? "1";
const etcdFailure = unpackEtcd();
if (etcdFailure !== undefined) process.stderr.write(`plexus: etcd was not unpacked: ${etcdFailure}\n`);
// The build takes longer than all tests together, and is useless etcdFailure etcd.
if (apiServerBinary() === undefined && etcdBinary() !== undefined && wanted !== "0") {
  process.stderr.write(
    "plexus: building kube-apiserver for the tests (once: about 4 minutes of two cores; PLEXUS_BUILD_APISERVER=0 skips the build)\n",
  );
  const failure = buildApiServer();
  if (failure !== undefined) process.stderr.write(`plexus: kube-apiserver was not built: ${failure}\n`);
}
const reason = kubeApi();
if (reason !== undefined) process.stderr.write(`plexus: tests against a Kubernetes API will be skipped: ${reason}\n`);
