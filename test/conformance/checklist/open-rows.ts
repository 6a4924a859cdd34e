// The rows that no test holds, with reasons. checklist.test.ts fails if a held row is listed here.

export interface Open {
  /** The reason why no test holds the row. */
  readonly reason: string;
  /** The text of an issue about the row. */
  readonly issue: string;
}

export const openRows: Readonly<Record<string, Open>> = {
  "KE-29": {
    reason: "The KEP's last revision removed the kubelet's check; a pod that names nothing gets the cluster's default network.",
    issue: "Decide whether STATUS answers code 50 while the default PodNetwork is missing.",
  },
  "KE-49": {
    reason: "The KEP's last revision removed the kubelet's check, and an unchanged kubelet cannot have it.",
    issue: "Decide whether STATUS answers code 50 while the default PodNetwork is missing.",
  },
  "KE-58": {
    reason: "Services and NetworkPolicy on further networks belong to other projects, such as multi-networkpolicy.",
    issue: "Test multi-networkpolicy with the network status that Plexus writes.",
  },
  "KU-10": {
    reason: "The row only says that the seed's kind Network is not the released one.",
    issue: "Nothing is to be done.",
  },
  "KU-11": {
    reason: "Interfaces have the NPWG's names net1, net2 and so on, as in every other network.",
    issue: "Decide whether a profile names interfaces as Kuryr does.",
  },
  "KU-19": {
    reason: "The row is about Kuryr's own programs. Plexus' shim and daemon have their own socket.",
    issue: "Nothing is to be done.",
  },
  "KU-25": {
    reason: "Plexus' configuration has CNI version 1.1.0, with STATUS and GC.",
    issue: "Nothing is to be done.",
  },
};
