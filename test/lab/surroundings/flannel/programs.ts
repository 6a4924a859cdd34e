// flannel's daemon, and the CNI plugin `flannel` of the last release of the reference plugins that has it.

import { join } from "node:path";

import { modulePrograms } from "../module-programs.ts";

const modules = join(import.meta.dirname, "..", "go");
const command = "node test/lab/surroundings/flannel/get.ts";

/** The daemon and the installer of its list. The daemon's backend `udp` is written in C, and the daemon links every backend. */
export const flannelPrograms = modulePrograms({
  name: "flanneld",
  module: join(modules, "flannel"),
  packages: ["github.com/flannel-io/flannel", "github.com/flannel-io/flannel/cmd/install_conf"],
  cgo: true,
  command,
});

export const flannelPlugin = modulePrograms({
  name: "flannel-plugin",
  module: join(modules, "flannel-plugin"),
  packages: ["github.com/containernetworking/plugins/plugins/meta/flannel"],
  command,
});
