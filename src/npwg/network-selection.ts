// One element of a pod's selection annotation (NPWG 4.1.2.1), validated: what the pod asks of one secondary network.

/** One entry of `portMappings` (4.1.2.1.7); `protocol` in lower case, "tcp" where the pod gave none. */
export interface PortMapping {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: "tcp" | "udp" | "sctp";
  /** Multus' extension, as CONVENTIONS.md has it for the capability. */
  readonly hostIP?: string | undefined;
}

/** `bandwidth` (4.1.2.1.8): rates in bits per second, bursts in bits. A burst never comes without its rate. */
export interface Bandwidth {
  readonly ingressRate?: number | undefined;
  readonly ingressBurst?: number | undefined;
  readonly egressRate?: number | undefined;
  readonly egressBurst?: number | undefined;
}

/** Values whose texts must reach a plugin unchanged: each key with the exact JSON text of its value. */
export type JsonMembers = ReadonlyMap<string, string>;

export interface NetworkSelection {
  /** Of the NetworkAttachmentDefinition; a DNS-1123 label. */
  readonly name: string;
  /** Never empty: the pod's own namespace where the element gave none. */
  readonly namespace: string;
  /** The interface name asked for; a valid Linux one. */
  readonly interface?: string | undefined;
  /** Addresses asked for, as written, each with or without prefix length; at least one. */
  readonly ips?: readonly string[] | undefined;
  /** In colon notation. */
  readonly mac?: string | undefined;
  /** Eight bytes in colon notation. */
  readonly infinibandGuid?: string | undefined;
  readonly portMappings?: readonly PortMapping[] | undefined;
  readonly bandwidth?: Bandwidth | undefined;
  /** `cni-args`: the members of the object. */
  readonly cniArgs?: JsonMembers | undefined;
  /** `default-route`: gateways in order; empty means that the attachment keeps the gateways that its plugins give. */
  readonly defaultRoute?: readonly string[] | undefined;
  /** Name of an IPAMClaim in the pod's namespace. */
  readonly ipamClaimReference?: string | undefined;
  /** Multus' `deviceID`. */
  readonly deviceId?: string | undefined;
  /** Keys with a period that Plexus doesn't know (4.1.2.1: implementations' own). */
  readonly extensions: JsonMembers;
}

/** A pod's whole selection. */
export interface PodSelection {
  readonly networks: readonly NetworkSelection[];
  /** One sentence each, for the log and an Event: what was ignored or is doubtful. */
  readonly warnings: readonly string[];
}
