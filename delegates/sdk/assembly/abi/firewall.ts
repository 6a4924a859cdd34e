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

/** Masquerading: packets from this address that leave its network get the node's address as their source. */
export class Masquerade {
  /** The pod's address with its network's prefix length. */
  address: string;

  constructor(address: string) {
    this.address = address;
  }
}

/** Packets to a port mapping that get the node's address as their source, because the answer would not come back otherwise. */
export enum Masquerading {
  None = 0,
  /** Packets of the node itself by 127.0.0.1, and packets of the pod's network, the pod itself included. */
  Local = 1,
  All = 2,
}

export class PortMapping {
  protocol: Protocol;
  /** Absent: any address of the node in the family of `pod-address`. */
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

export enum Side {
  Source = 0,
  Destination = 1,
}

/** A condition on the first packet of a connection: its address of this side is in the network, or is not (`negated`). */
export class Condition {
  side: Side;
  negated: bool;
  /** An address with prefix length: `10.96.0.0/12`. The condition is of the port mappings of its family only. */
  network: string;

  constructor(side: Side, negated: bool, network: string) {
    this.side = side;
    this.negated = negated;
    this.network = network;
  }
}

/** Installs these rules in place of the earlier ones. */
export function replace(rules: Rules): types_Fault | null {
  return _calls.firewall_replace(rules);
}

/** True: exactly these rules are in force. */
export function check(rules: Rules): BoolOrFault {
  return _calls.firewall_check(rules);
}

/** Like `replace`; port mappings accept the connections alone that meet all conditions of their family. Each side has one condition at most. */
export function replaceRestricted(rules: Rules, conditions: Array<Condition>): types_Fault | null {
  return _calls.firewall_replaceRestricted(rules, conditions);
}

/** Like `check`, for rules of `replace-restricted`. */
export function checkRestricted(rules: Rules, conditions: Array<Condition>): BoolOrFault {
  return _calls.firewall_checkRestricted(rules, conditions);
}

/**
 * ADD only: drops frames that arrive on `link` with a source other than `mac`. `link` is the node's end of a veth that this call made for the
 * attachment. `replace` does not change this guard.
 */
export function guardFrames(link: string, mac: string): types_Fault | null {
  return _calls.firewall_guardFrames(link, mac);
}

/** True: the guard of `guard-frames` is in force. */
export function framesGuarded(link: string, mac: string): BoolOrFault {
  return _calls.firewall_framesGuarded(link, mac);
}

/** Removes the attachment's rules, its guard included. Succeeds also without rules. */
export function remove(): types_Fault | null {
  return _calls.firewall_remove();
}

/** GC only: removes this delegate's rules in this network for all attachments that are not in `valid`. Answers the number of these attachments. */
export function retain(valid: Array<types_AttachmentId>): U32OrFault {
  return _calls.firewall_retain(valid);
}

/** Succeeds if rules could be installed now (STATUS). */
export function probe(): types_Fault | null {
  return _calls.firewall_probe();
}
