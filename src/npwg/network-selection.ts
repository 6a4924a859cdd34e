// A validated element of a pod's network selection annotation (NPWG 4.1.2.1): one network, and the pod's requests for its attachment.

import type { Family } from "../net/ip.ts";

/** One entry of `portMappings` (4.1.2.1.7); `protocol` in lower case, "tcp" by default. */
export interface PortMapping {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: "tcp" | "udp" | "sctp";
  /** Multus' extension: the host's address of the mapping, as CNI's CONVENTIONS.md describes it for the capability `portMappings`. */
  readonly hostIP?: string | undefined;
}

/** `bandwidth` (4.1.2.1.8): rates in bits per second, bursts in bits. A burst always has a rate. */
export interface Bandwidth {
  readonly ingressRate?: number | undefined;
  readonly ingressBurst?: number | undefined;
  readonly egressRate?: number | undefined;
  readonly egressBurst?: number | undefined;
}

/** Values that must reach a plugin unchanged: each key with the exact JSON text of its value. */
export type JsonMembers = ReadonlyMap<string, string>;

/** One element of the selection annotation. */
export interface NetworkSelection {
  /** Name of the NetworkAttachmentDefinition; a DNS-1123 label. */
  readonly name: string;
  /** Namespace of the definition, never empty: the pod's own if the element has none. */
  readonly namespace: string;
  /** The requested interface name; a valid Linux name. */
  readonly interface?: string | undefined;
  /** Requested addresses as written, each with or without prefix length; at least one. */
  readonly ips?: readonly string[] | undefined;
  /** MAC address in colon notation. */
  readonly mac?: string | undefined;
  /** Eight bytes in colon notation. */
  readonly infinibandGuid?: string | undefined;
  readonly portMappings?: readonly PortMapping[] | undefined;
  readonly bandwidth?: Bandwidth | undefined;
  /** `cni-args`: the members of the object. */
  readonly cniArgs?: JsonMembers | undefined;
  /**
   * `default-route`: gateways in order, for default routes through this attachment. An empty list keeps the gateways that its plugins
   * set. Undefined: no request for the default route.
   */
  readonly defaultRoute?: readonly string[] | undefined;
  /** The families to which `defaultRoute` is limited (KEP-3698: isDefaultGW4, isDefaultGW6); undefined: no limit. */
  readonly defaultRouteFamilies?: readonly Family[] | undefined;
  /** Name of an IPAMClaim in the pod's namespace. */
  readonly ipamClaimReference?: string | undefined;
  /** Multus' `deviceID`. */
  readonly deviceId?: string | undefined;
  /** Unknown keys with a period (4.1.2.1: reserved for implementations). */
  readonly extensions: JsonMembers;
}

/** A pod's whole selection. */
export interface PodSelection {
  readonly networks: readonly NetworkSelection[];
  /** Warnings about ignored keys, and about values that are valid but unusual; one sentence each, for the log and an Event. */
  readonly warnings: readonly string[];
}
