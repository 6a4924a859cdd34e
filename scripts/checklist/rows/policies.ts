// Requirements for policies on further networks: MultiNetworkPolicy v1beta1, with the semantics of networking.k8s.io/v1.

/** The rows of policies. */
export const policies: Readonly<Record<string, string>> = {
  "PO-01":
    "k8s.v1.cni.cncf.io/policy-for names definitions with or without a namespace; without it a policy is for no network; unknown names are told and are no errors.",
  "PO-02": "podnetwork/NAME names a PodNetwork; a NetworkPolicy is for PodNetworks that ask for it.",
  "PO-03": "An empty podSelector selects all pods; policyTypes default to Ingress, and to Egress if there are rules for it.",
  "PO-04": "ingress: [] stops all, ingress: [{}] allows all; missing from and to mean all peers, missing ports mean all ports.",
  "PO-05": "Several policies add up; each isolates its directions only.",
  "PO-06": "Peers by podSelector, namespaceSelector, both in one entry, and several entries; addresses of the same network only.",
  "PO-07": "ipBlock with except, both families, several blocks.",
  "PO-08":
    "Ports by number, by name (of the pod in ingress, of the peer in egress), by endPort, and protocols alone: TCP, UDP, SCTP.",
  "PO-09": "Replies of allowed connections pass; a removed allowance ends new connections, and established ones by choice.",
  "PO-10": "Neighbour discovery, router advertisements and DHCP stay open.",
  "PO-11": "The policies are in the kernel before the runtime is answered.",
  "PO-12":
    "A change of a policy, of a peer's or a namespace's labels or of a peer's address reaches the kernel; peers change elements and no rules.",
  "PO-13": "A hot-plugged interface has its policies before it is there.",
  "PO-14":
    "A failed read or write fails the ADD with failure: closed, and warns with open; without the API the last known policies hold.",
  "PO-15": "After a restart of daemon or agent each pod's table is written anew; other tables stay.",
  "PO-16": "A DEL leaves nothing on the node: the table goes with the network namespace.",
  "PO-17":
    "A policy selects pods of its own namespace only, and costs a node no more than its bounds; nobody but plexus-controller writes slices.",
  "PO-18": "plexusctl policies explain says which policy allows or stops a connection.",
  "PO-19": "Known policies and peers that no pod of the node has asked for an hour are removed.",
  "PO-20":
    "plexusctl policies tables and metrics say what the node's tables have, what failed and when all were last right; a pod and a policy get Events.",
  "PO-21":
    "The connections of the end-to-end tests of multi-networkpolicy-nftables and multi-networkpolicy-iptables pass and stop as there, in both families, between network namespaces and on a cluster.",
  "PO-22": "A pod that sends from before its first interface on sends no packet that a policy forbids, in 200 starts.",
  "PO-23":
    "The memory for policies counts queries and addresses; queries of a pod, a policy and a namespace are bounded, and a bound that is reached is told.",
  "PO-24":
    "The controller's work grows with the slices that a change concerns, lists come in pages, and a namespace that changes its objects all the time gets 5 writes a second of each.",
  "PO-25": "With enforceAt: node, a pod that removes its tables and forges packets sends none that a policy forbids.",
};
