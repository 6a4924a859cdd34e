// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `firewall`: masquerading and port mappings of the attachment, in a table of Plexus' own. Rules of one call replace
// all earlier ones of this delegate for this attachment, at once.

import * as _calls from "./calls";
import { BoolOrFault, U32OrFault } from "./compounds";
import { Fault as types_Fault } from "./types";
import { AttachmentId as types_AttachmentId } from "./types";
export { Fault } from "./types";
export { AttachmentId } from "./types";
export { BoolOrFault, U32OrFault } from "./compounds";

export enum Protocol {
  Tcp = 0,
  Udp = 1,
  Sctp = 2,
}

/** What comes from this address and leaves its network gets the node's address. */
export class Masquerade {
  /** The pod's address with its network's prefix length. */
  address: string;

  constructor(address: string) {
    this.address = address;
  }
}

/** Which packets to a port mapping get the node's address as their source, where the answer would not find back otherwise. */
export enum Masquerading {
  None = 0,
  /** Those of the node itself by 127.0.0.1, and those of the pod's network, the pod itself included. */
  Local = 1,
  All = 2,
}

export class PortMapping {
  protocol: Protocol;
  /** Absent: any address of the node, of the family of `pod-address`. */
  hostAddress: string | null = null;
  hostPort: u16;
  /** The pod's address with its network's prefix length. */
  podAddress: string;
  podPort: u16;
  masquerading: Masquerading;

  constructor(protocol: Protocol, hostPort: u16, podAddress: string, podPort: u16, masquerading: Masquerading) {
    this.protocol = protocol;
    this.hostPort = hostPort;
    this.podAddress = podAddress;
    this.podPort = podPort;
    this.masquerading = masquerading;
  }
}

export class Rules {
  masquerades: Array<Masquerade> = new Array<Masquerade>();
  portMappings: Array<PortMapping> = new Array<PortMapping>();
}

/** Puts these rules in force, in place of what there was. */
export function replace(rules: Rules): types_Fault | null {
  return _calls.firewall_replace(rules);
}

/** Whether exactly these rules are in force. */
export function check(rules: Rules): BoolOrFault {
  return _calls.firewall_check(rules);
}

/**
 * ADD only: from now on frames that come by `link`, the node's end of a veth that this call made for the attachment, are dropped unless `mac` is
 * their source. `replace` leaves that as it is.
 */
export function guardFrames(link: string, mac: string): types_Fault | null {
  return _calls.firewall_guardFrames(link, mac);
}

/** Whether they are. */
export function framesGuarded(link: string, mac: string): BoolOrFault {
  return _calls.firewall_framesGuarded(link, mac);
}

/** Removes the attachment's rules, its guard included. None is no fault. */
export function remove(): types_Fault | null {
  return _calls.firewall_remove();
}

/** GC only: removes the rules of this delegate and network for whatever is not in `valid`; answers of how many. */
export function retain(valid: Array<types_AttachmentId>): U32OrFault {
  return _calls.firewall_retain(valid);
}

/** Whether rules could be made now (STATUS). */
export function probe(): types_Fault | null {
  return _calls.firewall_probe();
}
