// Istio's CNI installer and plugin, built from the module istio.io/istio.

import { join } from "node:path";

import { modulePrograms } from "../module-programs.ts";

const commands = "istio.io/istio/cni/cmd";

export const istioPrograms = modulePrograms({
  name: "istio-cni",
  module: join(import.meta.dirname, "..", "go", "istio"),
  packages: [`${commands}/istio-cni`, `${commands}/install-cni`],
  command: "node test/lab/surroundings/istio/get.ts",
});
