// The rows that no test holds, and why. A row that is held must not be here: checklist.test.ts sees to that.

export interface Open {
  /** Why it isn't held. */
  readonly reason: string;
  /** What an issue about it would say. */
  readonly issue: string;
}

const daemon = "The daemon serves calls; this it doesn't do yet, or no test shows it.";
const runningPods = "It needs a watch of running pods, which the daemon doesn't keep yet.";

export const openRows: Readonly<Record<string, Open>> = {
  "N13-03": {
    reason: runningPods,
    issue: "Follow changes of a running pod's selection: attach, detach, and update the status once.",
  },
  "N13-05": {
    reason: "Leases of ipam-host-local know of no claims; the reference is handed to IPAM plugins that do.",
    issue: "Keep a lease of ipam-host-local for as long as the IPAMClaim that it was made for exists.",
  },
  "MA-05": {
    reason: "Device IDs come from the selection; dynamic resource allocation is not read.",
    issue: "Find a pod's devices in its resource claims and slices, where the cluster has resource.k8s.io/v1.",
  },
  "MO-16": { reason: daemon, issue: "Take Multus' daemon settings, or refuse each by name with what to do instead." },
  "MO-17": { reason: runningPods, issue: "Attach and detach networks of a running pod as its annotation changes." },
  "MO-22": { reason: daemon, issue: "Obtain and rotate a certificate for each node." },
  "MO-23": {
    reason: "There is an installer for a node, and none for a cluster.",
    issue: "Take the flags of Multus' thin entry point in the cluster's installer.",
  },
  "MO-30": {
    reason:
      "Every test run is on x86-64. On arm64 the demo and tests of hands, links, firewall and chains were run once, in an emulated machine (2026-11-23); ppc64le and s390x are not tried.",
    issue: "Run the tests on arm64 with each change, and build the hands for ppc64le and s390x.",
  },
  "MO-31": {
    reason: "Definitions are validated when a pod uses them.",
    issue: "Refuse invalid definitions at admission by a webhook, and by a command for files.",
  },
};
