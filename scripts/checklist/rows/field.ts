// Requirements from the field: clusters, meshes, tools and attackers around a node with Plexus. Each row was a defect once.

/** The rows of the field. */
export const field: Readonly<Record<string, string>> = {
  "FI-01": "A daemon that was taken over makes root execute no program of its own, and acts through no nested shim.",
  "FI-02": "Every right of an account of the chart is bounded by an admission policy, with every combination of optional parts.",
  "FI-03":
    "The machine code of a component and the memory of idle sandbox processes are bounded, also by the container's memory.",
  "FI-04": "No parser of user data takes more computing time than its size explains.",
  "FI-05": "No definitions of a tenant stop plexus-controller.",
  "FI-06": "kubectl plexus executes in the release's own pod only.",
  "FI-07":
    "Root's plexusctl writes into no other user's file and executes no other user's code; a grant bounds the addresses that a component gives to pods.",
  "FI-08": "A guest ends with its supervisor and its launcher, at every moment of their start.",
  "FI-09": "An empty cniVersion means 0.1.0.",
  "FI-10": "One container may map a port on several networks; the mapping goes over at the DEL of the first.",
  "FI-11": "GC follows today's disableGC, and CHECK today's disableCheck.",
  "FI-12": "CNI_ARGS without pairs is no fault of a component's step.",
  "FI-13": "An admission's limit of computing time is a key, and a component that was admitted before is never refused for it.",
  "FI-14": "plexusctl configure proposes the grants that a component declares.",
  "FI-15":
    "A DEL finds a pod's link by its identity: renamed links go, foreign links stay, and a lease stays while its link lives.",
  "FI-16": "A DEL frees the addresses that plugins leave, whatever the daemon remembers.",
  "FI-17": "A missing shim is reported at once, and the configuration follows it.",
  "FI-18": "Hot-plug recognizes a pod's network namespace by the namespace itself.",
  "FI-19":
    "A step that an installer adds to Plexus' file is kept once and named; another edit is a fault, restored ever more rarely.",
  "FI-20": "A pinned default network opens no other one while it is missing.",
  "FI-21": "A link without carrier is no fault of an ADD.",
  "FI-22": "Leases without an owner are reported and freed.",
  "FI-23": "DEL, GC and a changed mapping end the flows through a removed mapping; conditions may be negated.",
  "FI-24": "A virtual machine keeps its address over a migration, or a warning says that it does not.",
  "FI-25": "A full pool whose namespaces are gone is freed after a restart of daemon and agent.",
  "FI-26": "What native plugins accept or refuse in names, keys and routes, components accept or refuse too.",
  "FI-27":
    "The peers' own tests run by one command: each passes, fails on purpose for a stated reason, or is not possible for one.",
  "FI-28": "A daemon has no capability: a daemon that was taken over becomes no other user.",
  "FI-34": "DEL and CHECK leave out a step whose plugin is uninstalled and that today's list of the node's network lacks.",
  "FI-35": "Beside Istio's real node agent and plugin the mesh's step is kept once, whatever is installed, restarted or removed.",
  "FI-36":
    "Beside Calico's real CNI plugin pods keep both networks, and no address is left, whatever is installed, restarted or removed.",
  "FI-37":
    "Beside flannel's real daemon and plugin pods keep both networks, and no address is left, whatever is installed, restarted or removed.",
  "FI-38":
    "Names and Services work for pods with further networks, and host ports of portmap beside kube-proxy, whatever is restarted or removed.",
  "FI-39": "Beside kube-router pods keep both networks, and no address is left, whatever is installed, restarted or removed.",
  "FI-40":
    "Beside kindnet, played by its files, pods keep both networks, and no address is left, whatever is installed, restarted or removed.",
  "FI-41":
    "With addresses of the real plugin whereabouts each attachment has one address, and none is left, whatever is restarted or removed.",
  "FI-42": "Pods of a default network that was replaced end, and nothing of theirs is left once its plugins are there again.",
  "FI-43": "A daemon's sandbox processes are copies of a warm process, in the same jail, and a copy that fails is replaced.",
  "FI-44":
    "Beside Cilium's real agent and plugin pods keep both networks, and no address is left, whatever is installed, restarted or removed.",
};
