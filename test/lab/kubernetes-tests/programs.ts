// Kubernetes' own tests (e2e.test), and the program of their pods (agnhost), built from the module of the cluster's Kubernetes.

import { join } from "node:path";

import { modulePrograms } from "../surroundings/module-programs.ts";

export const kubernetesTests = modulePrograms({
  name: "kubernetes-tests",
  module: join(import.meta.dirname, "go"),
  packages: ["k8s.io/kubernetes/test/images/agnhost"],
  tests: ["k8s.io/kubernetes/test/e2e"],
  command: "node test/lab/kubernetes-tests/get.ts",
});
