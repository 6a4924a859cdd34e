// The requests of an attachment to the firewall: masquerades and port mappings. Types only.

import type { Cidr, IpAddress } from "../../../src/net/ip.ts";

/** A protocol with ports that can be mapped. */
export type Protocol = "tcp" | "udp" | "sctp";
/** Connections to the port that get the node's address as their source: none, those from the pod's network and 127.0.0.1, or all. */
export type Masquerading = "none" | "local" | "all";

/** Packets from this address to outside of its network, except multicast, get the node's address as their source. */
export interface Masquerade {
  readonly address: Cidr;
}

/** A condition on the first packet of a connection: its address is, or is not, in the network. */
export interface Condition {
  readonly which: "source" | "destination";
  readonly operation: "is" | "is not";
  readonly network: Cidr;
}

/** A port of the node that leads to a port of the pod. */
export interface PortMapping {
  readonly protocol: Protocol;
  /** Undefined: any address of the node. */
  readonly hostAddress: IpAddress | undefined;
  readonly hostPort: number;
  /** The pod's address with the prefix length of its network. */
  readonly pod: Cidr;
  readonly podPort: number;
  readonly masquerading: Masquerading;
  /** All of them must hold for a connection; of the family of `pod`. */
  readonly conditions: readonly Condition[];
}
