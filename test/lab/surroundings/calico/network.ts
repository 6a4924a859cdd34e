// Calico's CNI plugin as the default network of a node.

import type { DefaultNetwork } from "../default-network.ts";
import { deployCalico, importCalico, removeCalico } from "./install.ts";
import { calicoDaemon } from "./objects.ts";
import { calicoPrograms } from "./programs.ts";

export const calico: DefaultNetwork = {
  title: "Calico",
  requirements: [calicoPrograms.requirement],
  plugins: ["portmap", "bandwidth"],
  list: { file: "10-calico.conflist", steps: ["calico", "portmap", "bandwidth"] },
  daemon: calicoDaemon,
  addresses: /^10\.48\.0\.\d+$/u,
  // Calico's result has the host's link only, so the status of the default network has no interface and no MAC.
  status: { name: "k8s-pod-network" },
  links: "cali",
  async prepare({ nodes }) {
    for (const tag of ["v1", "v2"]) importCalico(nodes, tag);
  },
  deploy: deployCalico,
  remove: removeCalico,
  /** Counts the allocations of Calico's blocks. */
  async allocated(cluster) {
    const text = await cluster.succeed("get", "ipamblocks.crd.projectcalico.org", "-o", "json");
    const blocks: { items: { spec: { allocations: (number | null)[] } }[] } = JSON.parse(text);
    return blocks.items.flatMap(({ spec }) => spec.allocations).filter((each) => each !== null).length;
  },
};
