// The rows that no test holds, with reasons. checklist.test.ts fails if a held row is listed here.

export interface Open {
  /** The reason why no test holds the row. */
  readonly reason: string;
  /** The text of an issue about the row. */
  readonly issue: string;
}

const runningPods = "This needs a watch of running pods, which the daemon lacks.";

export const openRows: Readonly<Record<string, Open>> = {
  "N13-03": {
    reason: runningPods,
    issue: "Follow changes of a running pod's selection: attach, detach, and update the status once.",
  },
  "N13-05": {
    reason: "Leases of ipam-host-local have no link to claims. IPAM plugins that support claims get the reference.",
    issue: "Keep a lease of ipam-host-local as long as its IPAMClaim exists.",
  },
  "MA-05": {
    reason: "Device IDs come from the selection and the kubelet; dynamic resource allocation is not read.",
    issue: "Find a pod's devices in its resource claims and slices if the cluster has resource.k8s.io/v1.",
  },
  "MO-17": { reason: runningPods, issue: "Attach and detach networks of a running pod as its annotation changes." },
  "MO-31": {
    reason: "Definitions are validated when a pod uses them.",
    issue: "Refuse invalid definitions at admission by a webhook, and by a command for files.",
  },
};
