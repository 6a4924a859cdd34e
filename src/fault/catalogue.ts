// The one catalogue of faults: CNI number (CNI 1.1.0 section 5, libcni's 8 and 999), who must act, what to do.
// docs/reference/errors.md has a row for each; a test holds both together.

export type Actor = "administrator" | "delegate author" | "runtime" | "nobody" | "plexus";

export interface CatalogueEntry {
  readonly cni: number;
  readonly actor: Actor;
  /** What it means, one sentence. */
  readonly meaning: string;
  /** What the actor does about it, one sentence. */
  readonly remedy: string;
}

const entries = {
  CONFIG_NOT_JSON: {
    cni: 6,
    actor: "administrator",
    meaning: "A configuration is not JSON.",
    remedy: "Correct the JSON at the place named.",
  },
  CONFIG_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "A configuration breaks a rule of the CNI specification.",
    remedy: "Correct the field named; docs/reference/configuration.md has its rule.",
  },
  VERSION_UNSUPPORTED: {
    cni: 1,
    actor: "administrator",
    meaning: "The configuration's cniVersion is not one that the plugin speaks, or lacks the verb.",
    remedy: "Set cniVersion to a version that every plugin of the list speaks.",
  },
  ENVIRONMENT_INVALID: {
    cni: 4,
    actor: "runtime",
    meaning: "A CNI_ variable is missing or malformed.",
    remedy: "Call the plugin with the variables of CNI section 2.",
  },
  CONTAINER_UNKNOWN: {
    cni: 3,
    actor: "runtime",
    meaning: "The container is missing or unknown.",
    remedy: "Name a container that was added; after a lost journal, remove the sandbox.",
  },
  PLUGIN_NOT_FOUND: {
    cni: 7,
    actor: "administrator",
    meaning: "No directory of CNI_PATH has the plugin, native or as a component.",
    remedy: "Install the plugin in one of the directories named, make the file named a plugin, or correct the type.",
  },
  PLUGIN_FAILED: {
    cni: 999,
    actor: "administrator",
    meaning: "A native plugin failed; its own code is passed on where it gave one.",
    remedy: "Read the plugin's message; it says what it needs.",
  },
  RESULT_INVALID: {
    cni: 6,
    actor: "delegate author",
    meaning: "A plugin printed something that is no CNI result.",
    remedy: "Report it to the plugin's author with the text shown.",
  },
  STORE_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning: "Journal, cache, leases or a delegate's state could not be read or written.",
    remedy: "Check the directory named: owner, mode, free space, read-only mount.",
  },
  JOURNAL_UNREADABLE: {
    cni: 5,
    actor: "administrator",
    meaning: "A journal entry is damaged, so what was attached can't be known from it.",
    remedy:
      "Send DEL, which undoes what the result cache knows and removes the entry; then look for links and leases that are left.",
  },
  ALREADY_ATTACHED: {
    cni: 7,
    actor: "runtime",
    meaning: "This container is already attached to this network under this interface name.",
    remedy: "Send DEL before the next ADD.",
  },
  CALL_BUSY: {
    cni: 11,
    actor: "runtime",
    meaning: "Another call for this container, or a GC, did not end in time.",
    remedy: "Call again; if it goes on, look for the plugin that hangs.",
  },
  CALL_TIMEOUT: {
    cni: 11,
    actor: "administrator",
    meaning: "The call took as long as it may in all; what it began is undone in the time that is kept for that.",
    remedy:
      "Find out what is slow (key trace, metrics of the daemon); raise callTimeoutMs only where the runtime waits as long, and stays below the kubelet's four minutes for a sandbox.",
  },
  GC_UNFINISHED: {
    cni: 11,
    actor: "runtime",
    meaning: "GC used up its time; what it had none for is left to the next one.",
    remedy: "Call GC again; if it never ends, find the plugin that is slow, or raise gc.seconds.",
  },
  NOT_AVAILABLE: {
    cni: 50,
    actor: "administrator",
    meaning: "STATUS: no pod could be attached now; the message says what is missing.",
    remedy: "Supply what the message names; STATUS succeeds from then on.",
  },
  PLUGIN_TIMEOUT: {
    cni: 11,
    actor: "administrator",
    meaning: "A native plugin did not end in time and was killed.",
    remedy: "Find out what it waits for, or raise stepTimeoutMs.",
  },
  PLUGIN_NOT_STARTABLE: {
    cni: 5,
    actor: "administrator",
    meaning: "A plugin's file is there but can't be executed.",
    remedy: "Make the file named an executable for this machine, or finish writing it.",
  },
  NEST_OCCUPIED: {
    cni: 5,
    actor: "administrator",
    meaning: "The directory for a native plugin's nested calls holds something that Plexus did not put there.",
    remedy: "Look at what is in the directory named and remove both; Plexus makes it anew for each call.",
  },
  STORE_BUSY: {
    cni: 11,
    actor: "runtime",
    meaning: "Another process held the lock of a lease directory for longer than the deadline.",
    remedy: "Try again; if it lasts, find the process that holds the lock file named (fuser, lslocks).",
  },
  STORE_UNSAFE: {
    cni: 5,
    actor: "administrator",
    meaning:
      "A directory of leases or of a delegate's state is not what it must be: a symbolic link, a file, or on another file system.",
    remedy: "Replace what is named by a plain directory, or name the real directory in the configuration.",
  },
  DIRECTORY_NOT_ALLOWED: {
    cni: 7,
    actor: "administrator",
    meaning: "A configuration names a directory or a file that the host configuration does not list.",
    remedy:
      "If it is meant, add it to wasm.grants.TYPE.leases.directories (resolver.files for a file) in the host configuration; or leave it out for the default.",
  },
  CAPABILITY_MISUSED: {
    cni: 999,
    actor: "delegate author",
    meaning: "A delegate called a capability for something that this call may not do.",
    remedy: "Report it to the delegate's author with the message.",
  },
  SELECTION_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "A pod's annotation k8s.v1.cni.cncf.io/networks breaks a rule of the NPWG specification.",
    remedy: "Correct the key named in the pod's annotation; docs/reference/configuration.md has its rule.",
  },
  INTERFACE_NAME_TAKEN: {
    cni: 7,
    actor: "administrator",
    meaning: "A pod's network asks for an interface name that another of the pod's links has.",
    remedy: "Ask for another interface name in the pod's annotation, or for none.",
  },
  NETWORK_NOT_FOUND: {
    cni: 7,
    actor: "administrator",
    meaning: "A pod selects a NetworkAttachmentDefinition that doesn't exist, or one that names no configuration.",
    remedy: "Create the NetworkAttachmentDefinition named, or correct the pod's annotation.",
  },
  NETWORK_UNKNOWN: {
    cni: 7,
    actor: "administrator",
    meaning: "Plexus' configuration or a definition names a network of the node by a name or path under which there is none.",
    remedy:
      "Add the configuration to the directory named or under the path named, or correct the name; broken files are listed above.",
  },
  NETWORK_FORBIDDEN: {
    cni: 7,
    actor: "administrator",
    meaning: "The pod selects a network of a namespace that it may not use.",
    remedy: "Select a network of the pod's own namespace, or have the network's namespace listed in globalNamespaces.",
  },
  NETWORK_NOT_READY: {
    cni: 11,
    actor: "administrator",
    meaning: "The default network isn't ready: the file that readinessindicatorfile names isn't there. STATUS answers code 50.",
    remedy: "Look at the default network's own agent on this node; it writes the file named.",
  },
  NETWORK_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "A NetworkAttachmentDefinition is malformed.",
    remedy: "Correct the field named in the NetworkAttachmentDefinition.",
  },
  CAPABILITY_MISSING: {
    cni: 7,
    actor: "administrator",
    meaning: "A pod asks something of a network that none of its plugins has the capability for.",
    remedy: 'Add the capability to the "capabilities" of the plugin that implements it, or drop the request.',
  },
  REQUEST_UNMET: {
    cni: 7,
    actor: "administrator",
    meaning: "A network's result lacks the address, hardware address or interface name that the pod asked for.",
    remedy: "Use plugins that honour the request, or switch its verification off in the NetworkAttachmentDefinition.",
  },
  KUBELET_UNREADABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The kubelet could not be asked which devices it allocated to the pod.",
    remedy: "Check that the kubelet runs and that its pod-resources directory is the node's own; the runtime repeats the call.",
  },
  DEVICE_INFO_INVALID: {
    cni: 7,
    actor: "nobody",
    meaning: "A file with device information breaks its specification; the pod's status goes without it.",
    remedy: "Have the device plugin or the CNI plugin that wrote the file corrected, if the status needs it.",
  },
  POD_NOT_FOUND: {
    cni: 11,
    actor: "runtime",
    meaning: "The pod that the runtime names doesn't exist, or is another one by now.",
    remedy: "Try again; if the pod was deleted, remove its sandbox.",
  },
  CLUSTER_UNREADABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "Pods and NetworkAttachmentDefinitions can't be read, or contradict each other.",
    remedy: "Correct the file or object named.",
  },
  KUBECONFIG_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "A kubeconfig, or a file that it names, is malformed or asks for something that Plexus doesn't do.",
    remedy: "Correct the key or file named; docs/how-to/kubernetes.md says what a kubeconfig for Plexus holds.",
  },
  CREDENTIALS_UNREADABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The file with the credentials for the Kubernetes API can't be read.",
    remedy: "Create the file named, or correct the key kubeconfig; a call after that works.",
  },
  API_UNREACHABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The Kubernetes API gave no usable answer within the budget: unreachable, slow, overloaded or failing.",
    remedy: "Check the API server and the way to it; if it is only slow, raise kubernetes.budgetMs.",
  },
  API_UNTRUSTED: {
    cni: 11,
    actor: "administrator",
    meaning: "The API server's certificate is not one that the kubeconfig trusts.",
    remedy: "Correct certificate-authority or server in the kubeconfig, or the clock of this node or of the API server.",
  },
  API_UNAUTHENTICATED: {
    cni: 11,
    actor: "administrator",
    meaning: "The API server doesn't accept the credentials: expired, revoked or of another cluster.",
    remedy: "Renew the token or client certificate in the kubeconfig; they are read anew by each call.",
  },
  API_FORBIDDEN: {
    cni: 11,
    actor: "administrator",
    meaning: "The API server accepts the credentials, but not what Plexus asked for.",
    remedy: "Apply deploy/rbac.yaml, or bind the ClusterRole plexus to the user that the message names.",
  },
  API_REFUSED: {
    cni: 999,
    actor: "administrator",
    meaning: "The API server refused a request, or answered with something that is no Kubernetes object.",
    remedy: "Read the API server's message; an admission webhook or a proxy in between may be the reason.",
  },
  COMPONENT_REFUSED: {
    cni: 999,
    actor: "delegate author",
    meaning: "A component is not one that Plexus runs; the message names what was found and at which byte.",
    remedy: "Build it with the delegate kit for an ABI version that this host speaks, without WASI, threads, GC or exceptions.",
  },
  CAPABILITY_NOT_GRANTED: {
    cni: 7,
    actor: "administrator",
    meaning: "A component imports a capability that the administrator did not grant.",
    remedy: "Grant the capability named in the host configuration if the delegate may have it.",
  },
  NOT_GRANTED: {
    cni: 7,
    actor: "administrator",
    meaning: "A delegate asked for something that its grant of a capability does not have; nothing of that request was done.",
    remedy: "Add it under the key named in the host configuration if the delegate may have it.",
  },
  DELEGATION_ENDLESS: {
    cni: 7,
    actor: "administrator",
    meaning: "Plugins that delegates call would call one another in a circle, or too deep.",
    remedy:
      "Correct the types in the network's configuration (ipam.type, delegate.type), so that no plugin comes to be called by itself.",
  },
  SYSCTL_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning:
      "Settings under net in a pod's network namespace could not be read or written; what was written before is taken back.",
    remedy: "Read the system's reason; sysctl in the namespace shows which settings there are and what they have.",
  },
  SYSCTL_NOT_ALLOWED: {
    cni: 7,
    actor: "administrator",
    meaning:
      "A delegate would write a setting that the allow-list of the reference tuning plugin does not have, or a line of it is no expression.",
    remedy: "Add a line that the key matches to the file named if it may be written, or correct the line named.",
  },
  DELEGATE_FAILED: {
    cni: 999,
    actor: "administrator",
    meaning: "A delegate answered with an error of its own; its code is passed on.",
    remedy: "Read the delegate's message; it says what it needs.",
  },
  DELEGATE_TRAPPED: {
    cni: 999,
    actor: "delegate author",
    meaning: "A delegate ran into a trap, such as unreachable, an access out of bounds or an abort.",
    remedy: "Report it to the delegate's author with the message and the log lines before it.",
  },
  ABI_VIOLATED: {
    cni: 999,
    actor: "delegate author",
    meaning: "A delegate handed over data that breaks the canonical ABI: a bad pointer, length, discriminant or text.",
    remedy: "Rebuild the delegate with current tools; report it to its author.",
  },
  LIMIT_TIME: {
    cni: 999,
    actor: "administrator",
    meaning: "A delegate used up its time.",
    remedy:
      "Raise wasm.limits.timeMs in the host configuration if the delegate's work justifies it; otherwise report it to its author.",
  },
  LIMIT_MEMORY: {
    cni: 999,
    actor: "administrator",
    meaning: "A delegate needs more memory or larger tables than its limit.",
    remedy:
      "Raise wasm.limits.memoryMiB in the host configuration if the delegate's work justifies it; otherwise report it to its author.",
  },
  LIMIT_INPUT: {
    cni: 999,
    actor: "administrator",
    meaning: "A request is larger than a delegate may be given.",
    remedy: "Make the configuration or the previous result smaller, or raise wasm.limits.inputBytes in the host configuration.",
  },
  LIMIT_OUTPUT: {
    cni: 999,
    actor: "administrator",
    meaning: "A delegate handed over more data than its limit.",
    remedy:
      "Raise wasm.limits.outputBytes in the host configuration if the delegate's work justifies it; otherwise report it to its author.",
  },
  LIMIT_LOG: {
    cni: 999,
    actor: "administrator",
    meaning: "A delegate flooded the log.",
    remedy: "Report it to the delegate's author: how many lines a call may write is fixed.",
  },
  LIMIT_RECURSION: {
    cni: 999,
    actor: "delegate author",
    meaning: "A delegate recursed deeper than the stack.",
    remedy: "Report it to the delegate's author.",
  },
  SANDBOX_UNAVAILABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The sandbox process could not be started, or ended by itself.",
    remedy: "Try again; if it lasts, check the node's memory, its process limit and the installed runtime.",
  },
  DAEMON_SOCKET: {
    cni: 5,
    actor: "administrator",
    meaning: "The daemon can't listen on its socket.",
    remedy:
      "Correct the socket's path (at most 107 bytes) or its directory's owner and mode; stop a daemon that already listens there.",
  },
  DAEMON_BUSY: {
    cni: 11,
    actor: "nobody",
    meaning: "The daemon serves as many calls as it may, or is being stopped.",
    remedy:
      "Nothing: the runtime repeats the call; where it lasts, raise the daemon's bounds or look at what makes its calls slow.",
  },
  NETLINK_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning: "Links or routes of a network namespace could not be read or changed.",
    remedy: "Read the kernel's words; compare with what ip link and ip route show in the namespace named.",
  },
  FIREWALL_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning: "The kernel refused a change of nftables' rules, or has no nftables.",
    remedy: "Read the kernel's reason; load or enable the modules that the message names.",
  },
  HOST_PORT_TAKEN: {
    cni: 11,
    actor: "administrator",
    meaning: "A port of the node is mapped to another attachment already; the message says to which.",
    remedy: "Remove that attachment or map another port; if the attachment is gone, GC removes its rules.",
  },
  HANDS_GONE: {
    cni: 11,
    actor: "runtime",
    meaning: "The hands ended before the call was answered: the runtime gave up, or they were killed.",
    remedy: "Repeat the call; what was begun is undone by the next DEL.",
  },
  HANDS_PROTOCOL: {
    cni: 999,
    actor: "plexus",
    meaning: "Hands and brain do not speak the same protocol.",
    remedy: "Install executable and brain of the same release; if they are, report it with the message.",
  },
  INTERNAL: {
    cni: 999,
    actor: "plexus",
    meaning: "A defect of Plexus.",
    remedy: "Report it with the message and the request.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type FaultKind = keyof typeof entries;

export const catalogue: Readonly<Record<FaultKind, CatalogueEntry>> = entries;
