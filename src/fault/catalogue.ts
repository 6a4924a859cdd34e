// The catalogue of faults: CNI error code (CNI 1.1.0 section 5; 8 and 999 are libcni's), who must act, and the remedy.
// docs/reference/errors.md has a row for each entry; a test compares both.

/** The party that can correct the error. */
export type Actor = "administrator" | "delegate author" | "runtime" | "nobody" | "plexus";

/** The catalogue's data about one kind of fault. */
export interface CatalogueEntry {
  readonly cni: number;
  readonly actor: Actor;
  /** The fault's meaning, in one sentence. */
  readonly meaning: string;
  /** The actor's remedy, in one sentence. */
  readonly remedy: string;
  /** The optional feature that alone makes such faults: the name of its folder. A build without it keeps the number and the text. */
  readonly feature?: string;
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
    remedy: "Correct the field named; docs/reference/configuration.md has the field's rule.",
  },
  FIELD_UNSUPPORTED: {
    cni: 2,
    actor: "administrator",
    meaning: "Plexus' configuration has a key that Plexus doesn't know.",
    remedy: "Correct the key named or take it out; docs/reference/configuration.md has all keys.",
  },
  SHADOW_UNSUPPORTED: {
    cni: 7,
    actor: "administrator",
    meaning: "A component that runs as a shadow needs an effect that Plexus cannot simulate. The pod is not affected.",
    remedy: "Take the shadow out of the rules for steps; docs/how-to/rules-for-steps.md names what a shadow may do.",
  },
  VERSION_UNSUPPORTED: {
    cni: 1,
    actor: "administrator",
    meaning: "The configuration's cniVersion is not supported by the plugin, or lacks the verb.",
    remedy: "Set cniVersion to a version that every plugin of the list supports.",
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
    remedy: "Name a container that was added; after a lost journal, remove the sandbox (crictl stopp ID, then crictl rmp ID).",
  },
  ADD_UNFINISHED: {
    cni: 107,
    actor: "runtime",
    meaning: "An ADD of the container broke off, and what it made may be there still.",
    remedy: "Call DEL, which undoes what the ADD has attempted.",
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
    meaning: "A native plugin failed. Its own code is passed on if it printed one; code 3 only if the pod needs no DEL.",
    remedy: "Read the plugin's message; it names the cause.",
  },
  RESULT_INVALID: {
    cni: 6,
    actor: "delegate author",
    meaning: "A plugin's output is not a CNI result.",
    remedy: "Report it to the plugin's author with the text shown.",
  },
  STORE_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning: "Journal, cache, leases or a delegate's state could not be read or written.",
    remedy: "Check the directory named: owner, mode, free space (df), free inodes (df -i), read-only mount (findmnt).",
  },
  INSTALL_REFUSED: {
    cni: 5,
    actor: "administrator",
    meaning: "The files to install are incomplete or don't run on this node, so nothing was switched.",
    remedy: "Correct what the message names and install again; until then the node keeps what it had.",
  },
  JOURNAL_UNREADABLE: {
    cni: 5,
    actor: "administrator",
    meaning: "A journal entry is damaged, so the container's attachments are unknown.",
    remedy:
      "Delete the pod: its DEL undoes the attachments in the result cache and removes the entry; then look for remaining links and leases.",
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
    remedy: "Repeat the call; if the fault persists, look for a plugin that hangs.",
  },
  CALL_TIMEOUT: {
    cni: 11,
    actor: "administrator",
    meaning: "The call reached its time limit. Its attachments are undone in the time reserved for that.",
    remedy:
      "Find the slow step (key trace, metrics of the daemon). Raise callTimeoutMs only if the runtime waits that long, and stay below the kubelet's four minutes for a sandbox.",
  },
  GC_UNFINISHED: {
    cni: 11,
    actor: "runtime",
    meaning: "GC reached its time limit and leaves the rest to the next GC.",
    remedy: "Repeat GC; if it never finishes, find the slow plugin, or raise gc.seconds.",
  },
  NOT_AVAILABLE: {
    cni: 50,
    actor: "administrator",
    meaning: "STATUS: pods can't be attached at present; the message names the reason.",
    remedy: "Supply what the message names; STATUS succeeds from then on.",
  },
  PLUGIN_TIMEOUT: {
    cni: 11,
    actor: "administrator",
    meaning: "A native plugin did not end in time and was killed.",
    remedy: "Find out what the plugin waits for, or raise stepTimeoutMs.",
  },
  PLUGIN_NOT_STARTABLE: {
    cni: 5,
    actor: "administrator",
    meaning: "A plugin's file exists but can't be executed.",
    remedy: "Make the file named an executable for this machine, or complete the file if it was only partly written.",
  },
  NESTED_CALL_DIRECTORY_OCCUPIED: {
    cni: 5,
    actor: "administrator",
    meaning: "The directory for a native plugin's nested calls holds something that Plexus did not put there.",
    remedy: "Examine the directory named and remove it with its contents; Plexus creates it again for each call.",
  },
  STORE_BUSY: {
    cni: 11,
    actor: "runtime",
    meaning: "Another process held the lock of a lease directory for longer than the deadline.",
    remedy: "Repeat the call; if the fault persists, find the process that holds the lock file named (fuser, lslocks).",
  },
  STORE_UNSAFE: {
    cni: 5,
    actor: "administrator",
    meaning:
      "A directory of leases or of a delegate's state is unsafe: it is a symbolic link, a file, or on another file system.",
    remedy: "Replace the path named by a plain directory, or name the real directory in the configuration.",
  },
  DIRECTORY_NOT_ALLOWED: {
    cni: 7,
    actor: "administrator",
    meaning: "A configuration names a directory or a file that the host configuration does not list.",
    remedy:
      "Add the directory to wasm.grants.TYPE.leases.directories (a file to resolver.files) in the host configuration, or remove the key from the network's configuration to use the default.",
  },
  CAPABILITY_MISUSED: {
    cni: 999,
    actor: "delegate author",
    meaning: "A delegate used a capability in a way that this call does not allow.",
    remedy: "Report it to the delegate's author with the message.",
  },
  SELECTION_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning:
      "A pod's annotation, such as k8s.v1.cni.cncf.io/networks, or its claim breaks a rule of the NPWG specification or of Plexus.",
    remedy:
      "Correct what the message names in the pod's annotation or claim: in the template that makes the pod, or in the pod (kubectl annotate --overwrite); docs/how-to/select-networks.md has the keys. The runtime then tries the pod again.",
  },
  BOUND_EXCEEDED: {
    cni: 7,
    actor: "administrator",
    meaning:
      "A network has more plugins, or a pod more attachments, than the host configuration allows; or a client of the CRI Network API exceeds a bound.",
    remedy:
      "Shorten the list or select fewer networks; or raise the key named in the host configuration, if the node can carry it. A client of the CRI Network API must send fewer or smaller objects.",
  },
  INTERFACE_NAME_TAKEN: {
    cni: 7,
    actor: "administrator",
    meaning: "A pod's network requests an interface name that another link of the pod has.",
    remedy: "Request another interface name in the pod's annotation, or none.",
  },
  NETWORK_NOT_FOUND: {
    cni: 7,
    actor: "administrator",
    meaning: "A pod selects a NetworkAttachmentDefinition that doesn't exist, or one without a configuration.",
    remedy: "Create the NetworkAttachmentDefinition named, or correct the pod's annotation.",
  },
  POD_NETWORK_NOT_READY: {
    feature: "pod-networks",
    cni: 11,
    actor: "administrator",
    meaning: "A PodNetwork or PodNetworkAttachment of the pod doesn't exist, is disabled, or its parameters are not usable.",
    remedy:
      "See the object's condition Ready (kubectl describe podnetwork NAME) and mend what it names; the runtime then tries the pod again.",
  },
  EXTERNAL_PORT_NOT_READY: {
    feature: "external-ports",
    cni: 11,
    actor: "administrator",
    meaning:
      "The outer fabric has no port for the pod yet: plexus-controller, its provider or the fabric has not answered in time.",
    remedy:
      "See the ExternalPort named (kubectl describe externalport NAME) and mend what it names; the runtime then tries the pod again.",
  },
  EXTERNAL_PORT_REFUSED: {
    feature: "external-ports",
    cni: 7,
    actor: "administrator",
    meaning: "The outer fabric refuses a port for the pod, or the definition's parameters are wrong.",
    remedy:
      "Correct the definition or the pod's request that the message names; docs/how-to/external-ports.md has the parameters.",
  },
  NETWORK_UNKNOWN: {
    cni: 7,
    actor: "administrator",
    meaning: "Plexus' configuration or a definition refers to a network of the node by an unknown name or path.",
    remedy:
      "Add the configuration to the directory named or under the path named, or correct the name; broken files are listed above.",
  },
  NETWORK_CONFIG_INVALID: {
    feature: "network-api",
    cni: 7,
    actor: "administrator",
    meaning: "A network that a client sets by the CRI Network API breaks a rule.",
    remedy: "Correct the field named; docs/reference/network-api.md has the field's rule.",
  },
  NETWORK_OUTDATED: {
    feature: "network-api",
    cni: 7,
    actor: "administrator",
    meaning: "A client of the CRI Network API sets or removes another version of a network than it knows.",
    remedy: "List the networks, and set the network with a higher generation and the listed uid.",
  },
  NETWORK_NAME_TAKEN: {
    feature: "network-api",
    cni: 7,
    actor: "administrator",
    meaning: "A network that a client sets by the CRI Network API would share its name for CNI, or change it.",
    remedy: "Choose another network_name, or remove the network that has it.",
  },
  HOT_PLUG_REFUSED: {
    feature: "hot-plug",
    cni: 7,
    actor: "administrator",
    meaning: "A network cannot be attached to or detached from a running pod; the pod keeps its other networks.",
    remedy: "Create the pod anew with the networks that it should have, or remove the reason that the message names.",
  },
  HOT_PLUG_UNAVAILABLE: {
    cni: 11,
    actor: "administrator",
    meaning:
      "A running pod's networks cannot be changed at the moment: the daemon lacks an agent, a configuration with the key hotPlug, or the time. It tries again.",
    remedy:
      "Set the key hotPlug in Plexus' configuration; the chart's agent then executes plugins. Without the chart, start plexus agent on the node without --netlink-only, with the directories of the runtime's CNI_PATH; see docs/how-to/run-the-agent.md.",
  },
  NETWORK_FORBIDDEN: {
    cni: 7,
    actor: "administrator",
    meaning: "The pod selects a network of a namespace that this pod may not use.",
    remedy: "Select a network of the pod's own namespace, or have the network's namespace listed in globalNamespaces.",
  },
  DEFINITION_FORBIDDEN: {
    cni: 7,
    actor: "administrator",
    meaning:
      "A NetworkAttachmentDefinition uses a native plugin, a key of its configuration or a file that its namespace may not use.",
    remedy:
      "Allow it for the namespace in definitions.rules, or list the namespace in definitions.trusted if its definitions are the administrator's own.",
  },
  NETWORK_NOT_READY: {
    cni: 11,
    actor: "administrator",
    meaning: "The default network is not ready: the file that readinessindicatorfile names is missing. STATUS answers code 50.",
    remedy: "Check the default network's own agent on this node, which writes the file named.",
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
    meaning: "A pod requests something for which no plugin of the network has the capability.",
    remedy: 'Add the capability to the "capabilities" of the plugin that implements it, or drop the request.',
  },
  REQUEST_UNMET: {
    cni: 7,
    actor: "administrator",
    meaning: "A network's result lacks the address, hardware address or interface name that the pod requested.",
    remedy:
      "Use plugins that honour the request, or switch its verification off by the annotation plexus.dev/verify of the NetworkAttachmentDefinition (none, or a list of ips, mac, interface).",
  },
  KUBELET_UNREADABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The kubelet could not be asked for the pod's allocated devices.",
    remedy: "Check that the kubelet runs and that its pod-resources directory is the node's own; the runtime repeats the call.",
  },
  RESOURCE_CLAIM_UNUSABLE: {
    feature: "resource-claims",
    cni: 11,
    actor: "administrator",
    meaning: "A resource claim of the pod, or its driver's ResourceSlices, cannot give a network its device.",
    remedy:
      "See the claim's status (kubectl describe resourceclaim NAME) and the slices (kubectl get resourceslices -o yaml), and mend what the message names; the runtime then tries the pod again.",
  },
  CLAIM_UNUSABLE: {
    feature: "claims",
    cni: 11,
    actor: "administrator",
    meaning:
      "A network of the pod's resource claim cannot be attached: the claim's file on the node, its configuration or its device does not fit.",
    remedy:
      "Correct what the message names in the claim, its class, the network or the node's devices; the runtime then tries the pod again. kubectl describe resourceclaim NAME shows the claim.",
  },
  DEVICE_INFO_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "A file with device information breaks its specification; the pod's status lacks it.",
    remedy: "Have the device plugin or the CNI plugin that wrote the file corrected, if the status needs it.",
  },
  POD_NOT_FOUND: {
    cni: 11,
    actor: "runtime",
    meaning: "The pod that the runtime names doesn't exist, or was replaced by another of the same name.",
    remedy: "Repeat the call; if the pod was deleted, remove its sandbox.",
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
    meaning: "A kubeconfig, or a file that it names, is malformed or needs something that Plexus doesn't support.",
    remedy: "Correct the key or file named; docs/how-to/kubernetes.md describes a kubeconfig for Plexus.",
  },
  CREDENTIALS_UNREADABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The file with the credentials for the Kubernetes API can't be read.",
    remedy: "Create the file named, or correct the key kubeconfig; the next call then works.",
  },
  API_UNREACHABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The Kubernetes API gave no usable answer within the budget: unreachable, slow, overloaded or failing.",
    remedy: "Check the API server and the connection to it; if it is only slow, raise kubernetes.budgetMs.",
  },
  API_UNTRUSTED: {
    cni: 11,
    actor: "administrator",
    meaning: "The API server's certificate is not trusted by the kubeconfig.",
    remedy: "Correct certificate-authority or server in the kubeconfig, or the clock of this node or of the API server.",
  },
  API_UNAUTHENTICATED: {
    cni: 11,
    actor: "administrator",
    meaning: "The API server doesn't accept the credentials. They are expired, revoked or of another cluster.",
    remedy: "Renew the token or client certificate in the kubeconfig; each call reads them again.",
  },
  API_FORBIDDEN: {
    cni: 11,
    actor: "administrator",
    meaning: "The API server accepts the credentials, but forbids Plexus' request.",
    remedy:
      "Upgrade the chart's release, which has the rights, or apply deploy/rbac.yaml by hand; or bind the ClusterRole plexus to the user that the message names.",
  },
  API_REFUSED: {
    cni: 999,
    actor: "administrator",
    meaning: "The API server refused a request, or answered with something other than a Kubernetes object.",
    remedy: "Read the API server's message; an admission webhook or a proxy in between may be the reason.",
  },
  COMPONENT_REFUSED: {
    cni: 999,
    actor: "delegate author",
    meaning: "Plexus can't run a component; the message names the reason and the byte offset.",
    remedy:
      "Build it with the delegate kit for an ABI version that this host supports, without WASI, threads, GC or exceptions, or raise the limit that the message names.",
  },
  COMPONENT_DIGEST_DIFFERS: {
    cni: 7,
    actor: "administrator",
    meaning: "A component's bytes, or an artifact's, do not have the digest that the administrator demands.",
    remedy:
      "Install the component of the digest named (plexusctl component pull), or correct the digest in wasm.grants.TYPE.digest or in the reference, if the change is intended.",
  },
  SIGNATURE_MISSING: {
    cni: 7,
    actor: "administrator",
    meaning: "A component must be signed, but no signature of it was found.",
    remedy: "Sign the manifest (cosign sign --key), then install the component with its signatures: plexusctl component pull.",
  },
  SIGNATURE_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "No signature of a component was made by the key demanded for the component's manifest.",
    remedy: "Install a component that the key has signed; if another key is right, name it in signedBy and list it in wasm.keys.",
  },
  COMPONENT_REQUIREMENT_UNMET: {
    cni: 7,
    actor: "administrator",
    meaning: "A component has neither a signature nor a digest that wasm.require demands of every component of the node.",
    remedy:
      "Install a component that a key named in wasm.require.signedBy has signed (plexusctl component pull), or list its digest in wasm.require.digests. For one type, wasm.grants.TYPE may demand another digest or signedBy, or have require: false.",
  },
  SIGNATURE_KEY_UNUSABLE: {
    cni: 7,
    actor: "administrator",
    meaning: "The public key for a component's signature can't be read, or is of a kind that Plexus doesn't support.",
    remedy: "List a public key in PEM, ECDSA on P-256 or RSA, under its name in wasm.keys, or make the file named readable.",
  },
  COMPONENT_OCCUPIED: {
    feature: "components",
    cni: 5,
    actor: "administrator",
    meaning: "The plugin directory has a component of this name that plexusctl component pull did not install.",
    remedy: "Remove the file named, give the component another type, or replace the file with --force.",
  },
  REFERENCE_INVALID: {
    feature: "components",
    cni: 7,
    actor: "administrator",
    meaning: "A reference to a component is malformed.",
    remedy: "Write HOST/REPOSITORY:TAG@sha256:…, or oci-layout:DIRECTORY:TAG.",
  },
  ARTIFACT_NOT_FOUND: {
    feature: "components",
    cni: 7,
    actor: "administrator",
    meaning: "A registry or a layout doesn't have the component.",
    remedy: "Correct the reference, or push the component first: plexusctl component push.",
  },
  ARTIFACT_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "An artifact is damaged, incomplete, too large or no component.",
    remedy: "Push the component again; if the text names a proxy or a mirror, examine that.",
  },
  REGISTRY_UNREACHABLE: {
    feature: "components",
    cni: 11,
    actor: "administrator",
    meaning: "A registry gave no usable answer: unreachable, slow, broken off or untrusted.",
    remedy: "Check the registry and the connection to it; --ca names a private authority, --plain-http a registry without TLS.",
  },
  REGISTRY_UNAUTHORIZED: {
    feature: "components",
    cni: 7,
    actor: "administrator",
    meaning: "A registry, or a server that it redirects to, refuses the credentials or their absence.",
    remedy: "Give credentials that may do this with --credentials, as a file in the form of Docker's config.json.",
  },
  REGISTRY_CREDENTIALS_INVALID: {
    feature: "components",
    cni: 7,
    actor: "administrator",
    meaning: "The file with the credentials of registries is malformed, or needs a helper program.",
    remedy: "Write the credentials as auths of Docker's config.json, as in a Secret of type kubernetes.io/dockerconfigjson.",
  },
  REGISTRY_REFUSED: {
    feature: "components",
    cni: 999,
    actor: "administrator",
    meaning: "A registry refused a request, or answered in a way that the OCI specification does not allow.",
    remedy: "Read the registry's message; a proxy in between may be the reason.",
  },
  WASM_DISABLED: {
    cni: 11,
    actor: "administrator",
    meaning: "The administrator has switched components off (wasm.enabled), and a step's plugin is a component.",
    remedy: "Remove wasm.enabled: false from the host configuration, or install a native plugin of this type.",
  },
  CAPABILITY_NOT_GRANTED: {
    cni: 7,
    actor: "administrator",
    meaning: "A component imports a capability that the administrator did not grant.",
    remedy: "Grant the capability named in the host configuration, if the delegate may have it.",
  },
  NOT_GRANTED: {
    cni: 7,
    actor: "administrator",
    meaning:
      "A delegate requested something that its grant of a capability does not include; no part of the request was carried out.",
    remedy: "Add the value to the key named in the host configuration, if the delegate may have it.",
  },
  POOL_UNAVAILABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "No address of an AddressPool can be handed out now: the pool, the Kubernetes API or the daemon is missing.",
    remedy: "Supply what the message names; the runtime repeats the call. DEL, GC and running pods are not affected.",
  },
  POOL_FULL: {
    feature: "pools",
    cni: 11,
    actor: "administrator",
    meaning: "Every block of an AddressPool is claimed, and the node's own blocks have no free address.",
    remedy:
      "Append a range to the pool, or choose a smaller block size for the next pool; `plexusctl pools show` shows which nodes have the blocks.",
  },
  POLICY_FAILED: {
    feature: "policies",
    cni: 11,
    actor: "administrator",
    meaning:
      "The policies of a pod's networks could not be read, or not be applied in its network namespace; the pod does not start without them.",
    remedy:
      "Correct the policy or supply what the message names; the runtime repeats the ADD. The key policies.failure: open starts such pods without the policies.",
  },
  SERVICES_FAILED: {
    feature: "services",
    cni: 11,
    actor: "administrator",
    meaning:
      "The Services of a pod's further networks could not be read, or not be written into its network namespace; the pod runs without the changes.",
    remedy: "Supply what the message names. The daemon tries again; it needs the agent for running pods.",
  },
  NESTED_CALL_UNKNOWN: {
    cni: 7,
    actor: "administrator",
    meaning: "A native plugin called another plugin for a network that the runtime's call does not attach.",
    remedy:
      "Use a plugin that passes the name of its own configuration on to the plugins that it calls (CNI specification, section 4).",
  },
  DELEGATION_ENDLESS: {
    cni: 7,
    actor: "administrator",
    meaning: "Plugins that delegates call would call one another in a circle, or too deeply.",
    remedy:
      "Correct the types in the network's configuration (ipam.type, delegate.type), so that no plugin calls itself, directly or indirectly.",
  },
  SYSCTL_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning:
      "Sysctls under net in a pod's network namespace could not be read or written; earlier writes of the call are reverted.",
    remedy: "Read the system's reason; the command sysctl in the namespace shows the existing settings and their values.",
  },
  SYSCTL_NOT_ALLOWED: {
    cni: 7,
    actor: "administrator",
    meaning:
      "A delegate would write a sysctl that the allow-list of the reference tuning plugin lacks, or a line of the list is not a regular expression.",
    remedy: "Add a line that matches the key to the file named, if the delegate may write it; or correct the line named.",
  },
  DELEGATE_FAILED: {
    cni: 999,
    actor: "administrator",
    meaning: "A delegate answered with its own error; its code is passed on, code 3 only if the pod needs no DEL.",
    remedy: "Read the delegate's message; it names the cause.",
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
    meaning: "A delegate reached its time limit.",
    remedy:
      "Raise wasm.limits.timeMs in the host configuration if the delegate's work justifies it; otherwise report it to its author.",
  },
  LIMIT_MEMORY: {
    cni: 999,
    actor: "administrator",
    meaning: "A delegate needs more memory or larger tables than its limit allows.",
    remedy:
      "Raise wasm.limits.memoryMiB in the host configuration if the delegate's work justifies it; otherwise report it to its author.",
  },
  LIMIT_INPUT: {
    cni: 999,
    actor: "administrator",
    meaning: "A request exceeds a delegate's input limit.",
    remedy: "Make the configuration or the previous result smaller, or raise wasm.limits.inputBytes in the host configuration.",
  },
  LIMIT_OUTPUT: {
    cni: 999,
    actor: "administrator",
    meaning: "A delegate's output exceeds its limit.",
    remedy:
      "Raise wasm.limits.outputBytes in the host configuration if the delegate's work justifies it; otherwise report it to its author.",
  },
  LIMIT_LOG: {
    cni: 999,
    actor: "delegate author",
    meaning: "A delegate wrote too many log lines.",
    remedy: "Report it to the delegate's author: the number of lines of a call is fixed.",
  },
  LIMIT_RECURSION: {
    cni: 999,
    actor: "delegate author",
    meaning: "A delegate's recursion exceeds the stack.",
    remedy: "Report it to the delegate's author.",
  },
  SANDBOX_UNAVAILABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The sandbox process could not be started, or ended unexpectedly.",
    remedy: "Repeat the call; if the fault persists, check the node's memory, its process limit and the installed runtime.",
  },
  DAEMON_SOCKET: {
    cni: 5,
    actor: "administrator",
    meaning: "The daemon can't listen on its socket.",
    remedy:
      "Correct the socket's path (at most 107 bytes) or its directory's owner and mode; stop another daemon that already listens there.",
  },
  TEMPLATE_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning:
      "The template of Plexus' network configuration (plexusd --cni-config) is malformed or has a wrong key, so nothing is written.",
    remedy: "Correct the key named; docs/reference/configuration.md has the keys.",
  },
  NO_DEFAULT_NETWORK: {
    cni: 50,
    actor: "administrator",
    meaning:
      "The runtime's directory has no network besides Plexus', so plexusd writes no configuration, and removes its earlier one. With --cluster-network the configuration stays, and calls wait for that network.",
    remedy:
      "Nothing, if the node's network plugin is about to write its file; else install it, correct its file, or correct --cluster-network.",
  },
  CNI_FILE_FOREIGN: {
    cni: 7,
    actor: "administrator",
    meaning: "The file that plexusd would write belongs to another program or to you; plexusd never changes it.",
    remedy: "Remove the file named, or choose another name by --cni-config-name.",
  },
  CNI_FILE_BEHIND: {
    cni: 7,
    actor: "administrator",
    meaning: "The runtime reads another program's configuration before that of plexusd, so Plexus gets no calls.",
    remedy:
      "Choose a name that sorts first by --cni-config-name, pin the default network by --cluster-network, or remove the file named.",
  },
  CNI_FILE_DISPLACED: {
    cni: 11,
    actor: "administrator",
    meaning: "Another program keeps renaming or removing the file that plexusd wrote; plexusd restores it ever more rarely.",
    remedy: "Let the other program leave foreign files alone: with Cilium set cni.exclusive=false.",
  },
  CNI_FILE_EDITED: {
    cni: 11,
    actor: "administrator",
    meaning:
      "Another program edited the file that plexusd wrote. plexusd keeps a step that was added, if its plugin is installed, and restores everything else ever more rarely.",
    remedy:
      "Nothing, if the step is kept; else install the step's plugin, let the other program use the default network's own file, or set --cni-foreign-steps to keep: docs/how-to/service-meshes.md.",
  },
  SHIM_MISSING: {
    cni: 7,
    actor: "administrator",
    meaning:
      "The plugin directory has no shim, so each new pod would fail. plexusd does not write its network configuration, and removes it after 5 s; with --cluster-network it stays.",
    remedy:
      "Delete the daemon's pod, because the init container of the next one installs the shim, or run plexusctl install; or correct plexusd's --cni-bin-dir (the chart's cni.binDir).",
  },
  DAEMON_BUSY: {
    cni: 11,
    actor: "nobody",
    meaning: "The daemon serves its maximum number of calls, or is being stopped.",
    remedy:
      "Nothing: the runtime repeats the call. If the fault persists, find the slow calls (plexusctl ui), or raise --calls and --queue of plexusd (daemon.calls and daemon.queue of the chart).",
  },
  NETLINK_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning: "Links or routes of a network namespace could not be read or changed.",
    remedy: "Read the kernel's reason; compare with the output of ip link and ip route in the namespace named.",
  },
  DHCP_FAILED: {
    cni: 11,
    actor: "administrator",
    meaning: "No lease could be had from a DHCP server for an attachment's interface.",
    remedy: "Look whether a server serves the interface's network and has free addresses; the runtime repeats the call.",
  },
  LINK_KEPT: {
    cni: 11,
    actor: "administrator",
    meaning: "A DEL found the attachment's link under another name, and the link can't be removed.",
    remedy: "Give the link its name back, or remove it; the attachment and its addresses stay until then.",
  },
  FIREWALL_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning: "The kernel refused a change of nftables rules, or has no nftables.",
    remedy: "Read the kernel's reason; load or enable the modules that the message names.",
  },
  HOST_PORT_TAKEN: {
    cni: 11,
    actor: "administrator",
    meaning: "A port of the node is mapped to another container already; the message names its attachment.",
    remedy: "Remove that attachment or map another port; if the attachment is gone, GC removes its rules.",
  },
  OVS_UNAVAILABLE: {
    cni: 11,
    actor: "administrator",
    meaning: "The database of Open vSwitch does not answer on its socket, or the socket's server is not OVSDB.",
    remedy:
      "Start Open vSwitch on the node, or correct ovs.socket of the grant; in a cluster the chart's externalPorts.ovs.socket must name the same socket.",
  },
  OVS_BRIDGE_MISSING: {
    cni: 11,
    actor: "administrator",
    meaning: "Open vSwitch has no bridge of the name that a delegate needs.",
    remedy:
      "Make the bridge (ovs-vsctl add-br NAME), start the fabric's agent that makes it, or correct ovs.bridges of the grant.",
  },
  OVS_PORT_CONFLICT: {
    cni: 11,
    actor: "administrator",
    meaning:
      "A port of Open vSwitch has the name that a delegate requested, and another owner, bridge, interface ID or MAC address.",
    remedy:
      "Remove the port that the message names (ovs-vsctl del-port NAME) if nothing uses it; GC removes ports of attachments that are gone.",
  },
  OVS_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning: "Open vSwitch refused a change of a port, or ovs-vswitchd could not take the port.",
    remedy: "Read the reason of Open vSwitch; ovs-vsctl show and the log of ovs-vswitchd have more.",
  },
  SHIM_GONE: {
    cni: 11,
    actor: "runtime",
    meaning: "The shim ended before its call was answered: the runtime gave up, or the shim was killed.",
    remedy: "Repeat the call; the next DEL undoes the attachments of this call.",
  },
  SHIM_PROTOCOL: {
    cni: 999,
    actor: "plexus",
    meaning: "Shim and engine do not speak the same protocol.",
    remedy: "Install shim and engine of the same release; if they are, report the defect with the message.",
  },
  TRACE_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "A file is no chain trace, or a trace of another version, or damaged.",
    remedy: "Name a file that plexusctl trace list shows, and read it with the release that recorded it.",
  },
  INTERNAL: {
    cni: 999,
    actor: "plexus",
    meaning: "A defect of Plexus.",
    remedy: "Report the defect with the message and the request.",
  },
} as const satisfies Record<string, CatalogueEntry>;

/** A kind of fault: the name of a catalogue entry. */
export type FaultKind = keyof typeof entries;

/** The entries by kind. */
export const catalogue: Readonly<Record<FaultKind, CatalogueEntry>> = entries;
