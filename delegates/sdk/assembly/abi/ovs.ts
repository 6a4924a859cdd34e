// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

// Capability `ovs`: ports of Open vSwitch bridges on the node. The grant names the bridges. A port's link is the node's end of a veth that this call's
// `links` made for the attachment. Only ports that this delegate made for this attachment are changed or removed; the host marks them with
// `external_ids` of their own.

import * as _calls from "./calls";
import { Some } from "plexus/some";
import { BoolOrFault, OptionalPortStateOrFault, PortStateListOrFault, PortStateOrFault, U32OrFault } from "./compounds";
import { Fault as types_Fault } from "./types";
import { AttachmentId as types_AttachmentId } from "./types";
export { AttachmentId } from "./types";
export { Fault } from "./types";
export { BoolOrFault, OptionalPortStateOrFault, PortStateListOrFault, PortStateOrFault, U32OrFault } from "./compounds";

/** A port to be made. Its interface gets the `external_ids` `iface-id`, `attached-mac` and `iface-status=active`. */
export class NewPort {
  bridge: string;
  /** The name of the link, and of the port. */
  link: string;
  /** The name by which the fabric knows the port: in OVN and Neutron the logical port's. */
  interfaceId: string;
  /** The MAC address in the pod. */
  mac: string;

  constructor(bridge: string, link: string, interfaceId: string, mac: string) {
    this.bridge = bridge;
    this.link = link;
    this.interfaceId = interfaceId;
    this.mac = mac;
  }
}

/** The present state of a port. */
export class PortState {
  bridge: string;
  link: string;
  interfaceId: string;
  mac: string;
  /** The number of the port as ovs-vswitchd gave it. Absent: ovs-vswitchd has not taken the port yet, or could not. */
  number: Some<u32> | null = null;
  /** Why ovs-vswitchd could not take the port, such as a link that does not exist. */
  error: string | null = null;
  /** True: ovs-vswitchd sees a carrier on the link. */
  linkUp: bool;
  /** True: OVN has installed the flows of the port. */
  installed: bool;

  constructor(bridge: string, link: string, interfaceId: string, mac: string, linkUp: bool, installed: bool) {
    this.bridge = bridge;
    this.link = link;
    this.interfaceId = interfaceId;
    this.mac = mac;
    this.linkUp = linkUp;
    this.installed = installed;
  }
}

/**
 * ADD only: makes the port. A port that exists with the same members is no change. A port of that name with other members, at another
 * bridge, or of another owner is a fault.
 */
export function addPort(port: NewPort): types_Fault | null {
  return _calls.ovs_addPort(port);
}

/**
 * ADD and CHECK: waits until ovs-vswitchd has taken the port of this link, for at most `milliseconds`, and answers it. A port that
 * ovs-vswitchd could not take is a fault with the reason of ovs-vswitchd.
 */
export function settle(link: string, milliseconds: u32): PortStateOrFault {
  return _calls.ovs_settle(link, milliseconds);
}

/** The attachment's port of this link. None: the attachment has no such port. */
export function port(link: string): OptionalPortStateOrFault {
  return _calls.ovs_port(link);
}

/** All ports of the attachment. */
export function ports(): PortStateListOrFault {
  return _calls.ovs_ports();
}

/** ADD and DEL: removes the attachment's port of this link. False: the attachment has no such port. */
export function removePort(link: string): BoolOrFault {
  return _calls.ovs_removePort(link);
}

/** ADD and DEL: removes all ports of the attachment, and answers their number. Needs neither the link nor the previous result. */
export function removePorts(): U32OrFault {
  return _calls.ovs_removePorts();
}

/** GC only: removes this delegate's ports in this network for all attachments that are not in `valid`. Answers the number of ports. */
export function retain(valid: Array<types_AttachmentId>): U32OrFault {
  return _calls.ovs_retain(valid);
}

/** Succeeds if the database of Open vSwitch answers, and a granted bridge exists (STATUS). */
export function probe(): types_Fault | null {
  return _calls.ovs_probe();
}
