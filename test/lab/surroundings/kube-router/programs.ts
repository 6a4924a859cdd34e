// kube-router, built from its Go module.

import { join } from "node:path";

import { modulePrograms } from "../module-programs.ts";

/** The command that gets the programs. */
export const command = "node test/lab/surroundings/kube-router/get.ts";

export const kubeRouterPrograms = modulePrograms({
  name: "kube-router",
  module: join(import.meta.dirname, "..", "go", "kube-router"),
  packages: ["github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"],
  command,
});
