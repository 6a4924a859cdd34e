// What runtimes do that a delegating plugin must survive, and input that means harm.

/** How container runtimes behave. */
export const runtimes: Readonly<Record<string, string>> = {
  "RT-01": "containerd needs CNI_IFNAME and an address in the result, and runs its networks in parallel.",
  "RT-02": "containerd never calls GC: Plexus reconciles by itself.",
  "RT-03": "A failed DEL has no words that go-cni takes for success.",
  "RT-04": "STATUS answers within a second.",
  "RT-05": "Plexus' own configuration is written whole.",
  "RT-06": "VERSION answers fast and does nothing else; GC is right when it comes.",
  "RT-07": "DEL comes to an end: what can never succeed does not keep the sandbox.",
  "RT-08": "Sixteen attachments stay well within the kubelet's four minutes.",
  "RT-09": "DEL without a namespace succeeds and gives addresses back.",
  "RT-10": "After a reboot the journal is there, and what it says is undone.",
};

/** Adversarial input: no crash, a clear error, no plugin run, nothing left. */
export const adversarial: Readonly<Record<string, string>> = {
  "A-01": "A selection of [null].",
  "A-02": "A default-network annotation that selects nothing.",
  "A-03": "A selection that is an object, a text, a number, deeply nested, or very long.",
  "A-04": "Duplicate keys, __proto__ and constructor.",
  "A-05": "Names and types that are paths.",
  "A-06": "Very long configurations, a thousand elements, numbers beyond 2^53, NUL and lone surrogates.",
  "A-07": "Plugins that print without end, never end, read nothing, leave daemons, or print what is no result.",
  "A-08": "Operations of one container at the same time, GC among them.",
  "A-09": "State directories that are links, another's, full, read-only, or hold torn files.",
  "A-10": "Hostile clients of the socket.",
  "A-11": "CNI_ARGS with odd pairs and of 64 KiB.",
  "A-12": "Delegates that loop, fill memory, or use what they were not granted.",
  "A-13": "An API that answers 401, 409, 410, 429, slowly, or with another certificate.",
  "A-14": "Default routes: none there, an interface renamed by its plugin, one gateway for both families.",
  "A-15": "A pod that is replaced by one of its name between ADD and status.",
};
