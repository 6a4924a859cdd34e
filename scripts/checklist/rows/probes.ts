// Addresses of other hosts on the wire, and probes of a network.

/** The rows. */
export const probes: Readonly<Record<string, string>> = {
  "PR-01": "An ARP probe asks for an IPv4 address before a pod uses the address.",
  "PR-02": "Duplicate address detection is awaited before a pod uses an IPv6 address.",
  "PR-03": "After a conflict the next address is tried, at most three; the error and the pod's Event name the other host's MAC.",
  "PR-04": "With detectGateway an ADD needs an answer for the gateway.",
  "PR-05":
    "plexusctl probe asks the gateway, other pods of the network, given addresses and the endpoints of a given Service from a pod, and tells what answers, with which size, and what is lost.",
  "PR-06": "plexusctl probe names the policies that forbid an echo request, and warns of an answer that a policy forbids.",
};
