// Ports of bridges: their settings and their VLANs (linux/if_bridge.h), in messages of the family AF_BRIDGE.

import {
  AF_BRIDGE,
  IFINFOMSG,
  IFLA_AF_SPEC,
  IFLA_BRPORT_ISOLATED,
  IFLA_BRPORT_LEARNING,
  IFLA_BRPORT_MODE,
  IFLA_BRPORT_UNICAST_FLOOD,
  IFLA_EXT_MASK,
  IFLA_PROTINFO,
  ifinfomsg,
  NLM_F_DUMP,
  RTM_DELLINK,
  RTM_GETLINK,
  RTM_NEWLINK,
  RTM_SETLINK,
} from "./link-attributes.ts";
import type { PortState } from "./link-state.ts";
import { attribute, nested, Attributes, u32Attribute, type NetlinkRequest } from "./message.ts";
import { concat, u16, u8, u16At, i32At } from "./bytes.ts";

/** VLANs `first` to `last`, both included. */
export interface VlanRange {
  readonly first: number;
  readonly last: number;
  readonly pvid: boolean;
  readonly untagged: boolean;
}

/** Changes of a bridge port; absent members stay as they are. */
export type PortChange = { readonly [K in keyof PortState]?: PortState[K] | undefined };

const IFLA_BRIDGE_FLAGS = 0;
const IFLA_BRIDGE_VLAN_INFO = 2;
const BRIDGE_FLAGS_SELF = 2;
const BRIDGE_VLAN_INFO_PVID = 0x2;
const BRIDGE_VLAN_INFO_UNTAGGED = 0x4;
const BRIDGE_VLAN_INFO_RANGE_BEGIN = 0x8;
const BRIDGE_VLAN_INFO_RANGE_END = 0x10;
const RTEXT_FILTER_BRVLAN_COMPRESSED = 4;

/** Changes the settings of a bridge port. */
export function portChange(index: number, change: PortChange): NetlinkRequest {
  const members = [
    [IFLA_BRPORT_MODE, change.hairpin],
    [IFLA_BRPORT_ISOLATED, change.isolated],
    [IFLA_BRPORT_LEARNING, change.learning],
    [IFLA_BRPORT_UNICAST_FLOOD, change.flood],
  ] as const;
  const written = members.flatMap(([type, on]) => (on === undefined ? [] : [attribute(type, u8(on ? 1 : 0))]));
  return { type: RTM_SETLINK, flags: 0, body: concat([ifinfomsg(index, 0, 0, AF_BRIDGE), nested(IFLA_PROTINFO, written)]) };
}

/** Adds VLANs to a port or, where `self`, to the bridge itself. */
export function vlanAddition(index: number, vlan: VlanRange, self: boolean): NetlinkRequest {
  return vlans(RTM_SETLINK, index, vlan, self);
}

/** Removes VLANs from a port or, where `self`, from the bridge itself. */
export function vlanRemoval(index: number, vlan: VlanRange, self: boolean): NetlinkRequest {
  return vlans(RTM_DELLINK, index, vlan, self);
}

function vlans(type: number, index: number, { first, last, pvid, untagged }: VlanRange, self: boolean): NetlinkRequest {
  const flags = (pvid ? BRIDGE_VLAN_INFO_PVID : 0) | (untagged ? BRIDGE_VLAN_INFO_UNTAGGED : 0);
  const info = (more: number, id: number): Uint8Array => attribute(IFLA_BRIDGE_VLAN_INFO, concat([u16(flags | more), u16(id)]));
  const range =
    first === last ? [info(0, first)] : [info(BRIDGE_VLAN_INFO_RANGE_BEGIN, first), info(BRIDGE_VLAN_INFO_RANGE_END, last)];
  const whose = self ? [attribute(IFLA_BRIDGE_FLAGS, u16(BRIDGE_FLAGS_SELF))] : [];
  return { type, flags: 0, body: concat([ifinfomsg(index, 0, 0, AF_BRIDGE), nested(IFLA_AF_SPEC, [...whose, ...range])]) };
}

/** Requests the VLANs of all ports: the kernel has no request for one port. */
export function vlansRequest(): NetlinkRequest {
  const mask = u32Attribute(IFLA_EXT_MASK, RTEXT_FILTER_BRVLAN_COMPRESSED);
  return { type: RTM_GETLINK, flags: NLM_F_DUMP, body: concat([ifinfomsg(0, 0, 0, AF_BRIDGE), mask]) };
}

/** A port's VLANs; undefined for a message of another type. */
export function vlansIn({
  type,
  body,
}: {
  readonly type: number;
  readonly body: Uint8Array;
}): { readonly link: number; readonly vlans: readonly VlanRange[] } | undefined {
  if (type !== RTM_NEWLINK || body.length < IFINFOMSG || body[0] !== AF_BRIDGE) return undefined;
  const ranges: VlanRange[] = [];
  let begin: number | undefined;
  for (const [which, value] of new Attributes(body, IFINFOMSG).within(IFLA_AF_SPEC).list()) {
    if (which !== IFLA_BRIDGE_VLAN_INFO) continue;
    const flags = u16At(value, 0);
    const id = u16At(value, 2);
    if ((flags & BRIDGE_VLAN_INFO_RANGE_BEGIN) !== 0) {
      begin = id;
      continue;
    }
    const pvid = (flags & BRIDGE_VLAN_INFO_PVID) !== 0;
    const untagged = (flags & BRIDGE_VLAN_INFO_UNTAGGED) !== 0;
    ranges.push({ first: begin ?? id, last: id, pvid, untagged });
    begin = undefined;
  }
  return { link: i32At(body, 4), vlans: ranges };
}
