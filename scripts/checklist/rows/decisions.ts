// Decisions where specifications contradict their users, or themselves. `src/npwg/profile.ts` has those that the profiles `strict` and `compat` make
// differently.

/** The rows of the decisions. */
export const decisions: Readonly<Record<string, string>> = {
  "D-01":
    "A selection annotation with an invalid value fails the pod; with the profile strict it is ignored as a whole (NPWG 4.1.2.1.3 to 4.1.2.1.9). invalidAnnotation overrides the profile.",
  "D-02":
    "Requested ips and mac go to runtimeConfig with the capability. Without it they are refused (NPWG 1.1), or go to args.cni (NPWG 1.0). The result is compared, unless the definition says otherwise.",
  "D-03":
    "Plugins see their key capabilities, as with libcni; the CNI specification removes it from the request, and so does an option.",
  "D-04": "The first failure stops the DEL of a chain (CNI), and other attachments are removed all the same (NPWG 7.2).",
  "D-05": "Addresses of the status have no prefix length, as consumers expect; with the profile strict they have it (NPWG 5.4).",
  "D-06": "With the profile compat the status has gateway and mtu too, as with Multus.",
  "D-07": "A DEL waits a bounded time for the default network (NPWG 6.1.2), then works from the journal.",
  "D-08":
    "One element may have default-route (NPWG 4.1.2.1.9); with the profile compat or Plexus' own key, one for each address family.",
  "D-09": "ipam-claim-reference goes to args.cni, and to runtimeConfig of plugins that declare the capability.",
  "D-10": "Configurations on disk are .configlist and .config (NPWG 3.4.1), and also .conflist, .conf and .json.",
  "D-11": "The ADD of an absent pod fails with code 11 after retries; it never succeeds.",
  "D-12":
    "With the profile compat each sandbox interface of a result has an entry in the status; otherwise the first has (NPWG 5.1.1).",
  "D-14": "GC touches no network without a record, and can be told to report only.",
  "D-15": "CHECK checks all attachments, or only the default network by configuration.",
  "D-16": "IPAM claims have the group of their CustomResourceDefinition, which differs from that in NPWG 1.3's example.",
};
