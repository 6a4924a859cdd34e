// `node test/lab/kube/build.ts api|chart|cluster` runs before the tests enter a network namespace without a route, so that Go can fetch
// the modules. `api` builds kube-apiserver; `chart` also kubectl and helm; `cluster` also kubelet, scheduler and controller manager. The
// program never fails: for each part that is missing it prints one line.
// PLEXUS_BUILD_APISERVER=0 skips every build, PLEXUS_BUILD_CLUSTER=0 those that only a whole cluster needs.

import {
  buildKube,
  clusterPrograms,
  etcdBinary,
  kubeApi,
  kubeProgram,
  kubePrograms,
  unpackEtcd,
  type KubeProgram,
} from "./binaries.ts";
import { hasGo } from "./go-command.ts";
import { buildHelm, helm, helmBinary } from "./helm.ts";

const say = (text: string): void => void process.stderr.write(`plexus: ${text}\n`);
const allowed = (variable: string): boolean => (process.env[variable] ?? "1") !== "0";

const etcdFailure = unpackEtcd();
if (etcdFailure !== undefined) say(`etcd was not unpacked: ${etcdFailure}`);
// The builds take longer than all tests together, and are useless without etcd.
const building = etcdBinary() !== undefined && allowed("PLEXUS_BUILD_APISERVER");
const [, , scope = "cluster"] = process.argv;
const helmWanted = scope !== "api" && allowed("PLEXUS_BUILD_CLUSTER");
const clusterWanted = scope === "cluster" && helmWanted;

if (building && helmWanted && helmBinary() === undefined && hasGo()) {
  say("building helm for the tests (once: about 4 minutes of two cores; PLEXUS_BUILD_CLUSTER=0 skips the build)");
  const failure = buildHelm();
  if (failure !== undefined) say(`helm was not built: ${failure}`);
}
const wanted: readonly KubeProgram[] = clusterWanted
  ? clusterPrograms
  : helmWanted
    ? ["kube-apiserver", "kubectl"]
    : ["kube-apiserver"];
const absent = wanted.filter((name) => kubeProgram(name) === undefined);
if (building && absent.length > 0 && !hasGo()) say(`${absent.join(", ")} cannot be built: no go on PATH`);
else if (building && absent.length > 0) {
  const minutes = absent.length === 1 ? 4 : 8;
  const skip = absent.includes("kube-apiserver") ? "PLEXUS_BUILD_APISERVER=0" : "PLEXUS_BUILD_CLUSTER=0";
  say(`building ${absent.join(", ")} for the tests (once: about ${minutes} minutes of two cores; ${skip} skips the build)`);
  const failure = buildKube(wanted);
  if (failure !== undefined) say(`${absent.join(", ")} was not built: ${failure}`);
}
const withoutApi = kubeApi();
if (withoutApi !== undefined) say(`tests against a Kubernetes API will be skipped: ${withoutApi}`);
else if (clusterWanted) {
  const withoutCluster = kubePrograms(...clusterPrograms)();
  if (withoutCluster !== undefined) say(`tests on a cluster will be skipped: ${withoutCluster}`);
}
if (helmWanted) {
  const withoutHelm = helm();
  if (withoutHelm !== undefined) say(`tests of the chart will be skipped: ${withoutHelm}`);
}
