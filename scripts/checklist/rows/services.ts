// Requirements for Services on further networks: endpoints, names and cluster addresses.

/** The rows of Services. */
export const services: Readonly<Record<string, string>> = {
  "SV-01":
    "EndpointSlices of a Service with a network have the pods' addresses on this network, by family, at most 1,000 in a slice.",
  "SV-02":
    "ready, serving, terminating, publishNotReadyAddresses, named ports, hostname, zone and node name are those of kube-controller-manager.",
  "SV-03": "A pod with several interfaces on the network has all its addresses.",
  "SV-04":
    "kube-controller-manager and kube-proxy leave these Services alone; without the annotation the slices go and the selector is back.",
  "SV-05": "The cluster's DNS answers for a headless Service with these addresses: A, AAAA, SRV.",
  "SV-06":
    "Pods of the network reach the cluster address with TCP, UDP and SCTP; session affinity; a Service without endpoints refuses at once.",
  "SV-07": "New connections leave an endpoint that goes, and its UDP flows are flushed.",
  "SV-08": "Hot-plug adds and removes endpoints, on PodNetworks and definitions alike.",
  "SV-09": "Policies judge the endpoint's address and network, not the cluster address.",
  "SV-10":
    "With sessionAffinity a pod keeps its endpoint while it is there, and until timeoutSeconds have passed without a connection.",
  "SV-11":
    "plexusctl services show, explain and tables, metrics and Events say what a Service and a node's tables have, and why a Service has no endpoint.",
  "SV-12":
    "Services of one namespace do not displace those of others from a pod's table: the pod's own namespace is first, then namespaces take turns.",
  "SV-13": "The memory for Services counts addresses, fronts and ports, and a pod's addresses are bounded.",
  "SV-14":
    "A Service that is made again with the same name keeps no slices and no clients' endpoints of the earlier one; plans, lists and the pace of changes are bounded.",
};
