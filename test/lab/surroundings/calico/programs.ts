// Calico's CNI installer and plugins, built from the module github.com/projectcalico/calico. The program `calico` is `calico-ipam` under that name.

import { join } from "node:path";

import { modulePrograms } from "../module-programs.ts";

const commands = "github.com/projectcalico/calico/cni-plugin/cmd";

export const calicoPrograms = modulePrograms({
  name: "calico-cni",
  module: join(import.meta.dirname, "..", "go", "calico"),
  packages: [`${commands}/calico`, `${commands}/install`],
  files: ["manifests/crds.yaml"],
  command: "node test/lab/surroundings/calico/get.ts",
});
