// Behaviour of container runtimes, and hostile input.

/** Rows on the behaviour of container runtimes. */
export const runtimes: Readonly<Record<string, string>> = {
  "RT-01": "containerd needs CNI_IFNAME and an address in the result, and runs its networks in parallel.",
  "RT-02": "containerd never calls GC: Plexus reconciles by itself.",
  "RT-03": "The error of a failed DEL has no text that go-cni takes for a success.",
  "RT-04": "STATUS answers within a second.",
  "RT-05": "Plexus' configuration is written atomically.",
  "RT-06": "VERSION has no side effects; a GC of the runtime is correct.",
  "RT-07": "DEL converges: a DEL that cannot succeed is given up, so that the sandbox can be removed.",
  "RT-08": "Sixteen attachments take much less than the kubelet's timeout of four minutes.",
  "RT-09": "DEL without a namespace succeeds and releases addresses.",
  "RT-10": "After a reboot the attachments of the journal are undone.",
};

/** Hostile input must cause an error, no crash, no executed plugin and no remaining state. */
export const adversarial: Readonly<Record<string, string>> = {
  "A-01": "A selection of [null].",
  "A-02": "A default-network annotation that selects nothing.",
  "A-03": "A selection that is an object, a string, a number, deeply nested, or very long.",
  "A-04": "Duplicate keys, __proto__ and constructor.",
  "A-05": "Names and types that are paths.",
  "A-06": "Very long configurations, a thousand elements, numbers beyond 2^53, NUL and lone surrogates.",
  "A-07": "Plugins that print without end, never end, read nothing, leave daemons, or print invalid results.",
  "A-08": "Concurrent operations of one container, also with GC.",
  "A-09": "State directories that are links, of another user, full, read-only, or with truncated files.",
  "A-10": "Hostile clients of the socket.",
  "A-11": "CNI_ARGS with malformed pairs and of 64 KiB.",
  "A-12": "Delegates that loop, fill memory, or exceed their grants.",
  "A-13": "An API server that answers 401, 409, 410 or 429, answers slowly, or has another certificate.",
  "A-14": "Default routes of a pod without one, of a renamed interface, and with one gateway for both families.",
  "A-15": "A pod that is recreated between its attachments and its status.",
};
