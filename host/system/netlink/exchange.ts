// The effect NETLINK of host/shim/PROTOCOL.md as this folder needs it: one send of netlink messages in a network namespace, and its outcome.

/** Time limit of one exchange, in ms: the kernel answers within a few, and a shim that does not must not hold a call up. */
export const deadlineMs = 10_000;
/** Maximum number of requests for one dump that concurrent changes interrupt. */
export const maxDumps = 5;

/** Messages for the kernel, and the network namespace in which the shim sends them. */
export interface NetlinkExchange {
  /** Path of the network namespace; empty for the shim's own, which is the node's. */
  readonly path: string;
  /** Absent: rtnetlink. */
  readonly protocol?: "netfilter" | undefined;
  /** Netlink messages; at least one asks for an acknowledgement, and the shim waits for each that is asked for. */
  readonly request: Uint8Array;
  readonly deadlineMs: number;
  /** Path of a second namespace, which the messages name by the descriptor SECOND_NAMESPACE; absent: none. */
  readonly second?: string | undefined;
  /**
   * Whether a path, first or second, may lead to the shim's own namespace. Absent: such a path is refused (EXDEV, nothing sent), because a change
   * that means a pod would act on the node. An empty path means the shim's own namespace and is always allowed.
   */
  readonly allowsOwn?: boolean | undefined;
}

/** The outcome of an effect in a network namespace. */
export interface NamespaceOutcome {
  /** 0: everything was done; of NETLINK: every message was answered. */
  readonly errno: number;
  /** False: the kernel has seen nothing of it. True with an errno: a part was done, or with NETLINK an unknown part. */
  readonly sent: boolean;
  /** NETLINK: the kernel's answers, one after the other. SYSCTL: the previous values of the keys that were done, each with a NUL. */
  readonly reply: Uint8Array;
}

/** Sends netlink messages: the shim of a call, or the agent. */
export interface NetlinkSender {
  netlink(exchange: NetlinkExchange): Promise<NamespaceOutcome>;
}

/** Number of the descriptor under which the shim has the second namespace open (IFLA_NET_NS_FD). */
export const SECOND_NAMESPACE = 960;
