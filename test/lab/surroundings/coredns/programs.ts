// CoreDNS, built from its Go module.

import { join } from "node:path";

import { modulePrograms } from "../module-programs.ts";

export const coreDns = modulePrograms({
  name: "coredns",
  module: join(import.meta.dirname, "..", "go", "coredns"),
  packages: ["github.com/coredns/coredns"],
  command: "node test/lab/surroundings/coredns/get.ts",
});
