// Requirements for networks as claims: a driver for dynamic resource allocation (resource.k8s.io/v1).

/** The rows of claims. */
export const claims: Readonly<Record<string, string>> = {
  "DR-01": "The kubelet registers the driver (pluginregistration v1, DRA v1); kubelet and daemon may restart at any time.",
  "DR-02":
    "ResourceSlices come from configuration, with standard attributes and the pool's generation, and follow the node's links.",
  "DR-03": "Shared devices have capacities that the scheduler counts; an exclusive device is one claim's.",
  "DR-04":
    "Opaque configurations of the class come before those of the claim; an unknown kind or field is refused with its place.",
  "DR-05": "Prepare and Unprepare are idempotent, and change nothing of the node but the claim's own file.",
  "DR-06": "An ADD attaches a pod's claims; all containers of the pod share the interface.",
  "DR-07": "The claim's status has the interface or the plugin's error; only the daemon of the claim's node may write it.",
  "DR-08": "A link that is down has a taint or is withdrawn, and comes back.",
  "DR-09": "A pod whose claim asks for a PodNetwork is scheduled only where a device reaches the network.",
  "DR-10": "Annotation and claims together have one order of names, and no interface twice.",
  "DR-11": "After kills, restarts and forced deletions nothing leaks and no claim stays in use.",
  "DR-12": "The author of a claim needs the verb use for its classes and definitions; a claim cannot replace its class' network.",
  "DR-13": "A claim names a PodNetwork, by the rules of the annotation, a pool, or for a list the network whose policies hold.",
  "DR-14": "A node's 1,000 claims take at most 15 MiB of the daemon's memory.",
  "DR-15":
    "Exclusive PCI devices are known to KubeVirt and Multus (attributes, device information, CDI); a migration's two pods with two claims have one address.",
};
