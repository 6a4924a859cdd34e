// kube-proxy, built from a Go module of its own: the go.sum of test/lab/kube/go lacks the package knftables, and a change there rebuilds the control plane.

import { join } from "node:path";

import { modulePrograms } from "../module-programs.ts";

export const kubeProxy = modulePrograms({
  name: "kube-proxy",
  module: join(import.meta.dirname, "..", "go", "kube-proxy"),
  packages: ["k8s.io/kubernetes/cmd/kube-proxy"],
  command: "node test/lab/surroundings/kube-proxy/get.ts",
});
