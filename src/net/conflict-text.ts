// The sentence about an address that another host has, for the log and for the pod's Event.

/** An address that an attachment was to get, and the host that has it. */
export interface FoundConflict {
  readonly network: string;
  /** The attachment's interface. */
  readonly ifname: string;
  readonly address: string;
  /** The other host's link-layer address. */
  readonly mac: string;
}

/** `eth1 from NETWORK: address 10.1.0.2 is in use by the host with MAC ...`. */
export function conflictText({ network, ifname, address, mac }: FoundConflict): string {
  return `${ifname} from ${network}: address ${address} is in use by the host with MAC ${mac}; Plexus gives it to no pod for an hour`;
}
