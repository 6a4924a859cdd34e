// The rows that no test holds, with reasons. checklist.test.ts fails if a held row is listed here.

export interface Open {
  /** The reason why no test holds the row. */
  readonly reason: string;
  /** The text of an issue about the row. */
  readonly issue: string;
}

export const openRows: Readonly<Record<string, Open>> = {
  "DE-TAP-07": {
    reason:
      "The kernel gives a tap the context of the process that makes it; `sockcreate` does not count (`selinux_tun_dev_create`). The contract's `add-tap` has no context, so the delegate refuses the key with code 7. Without SELinux the reference fails, too.",
    issue:
      "Make the tap in a process that the shim executes in the context (`/proc/self/attr/exec`), with a grant and a node's policy of contexts, and test it on a kernel with a policy of SELinux.",
  },
  "KU-19": {
    reason: "The row is about Kuryr's own programs. Plexus' shim and daemon have their own socket.",
    issue: "Nothing is to be done.",
  },
};
