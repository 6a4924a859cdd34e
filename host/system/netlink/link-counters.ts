// The counters of a link (struct rtnl_link_stats64 in linux/if_link.h).

import { IFINFOMSG, ifinfomsg, RTM_GETLINK, RTM_NEWLINK } from "./link-attributes.ts";
import { Attributes, type NetlinkRequest } from "./message.ts";
import { i32At, u32At } from "./bytes.ts";

/** The traffic that a link has received or sent since it was made. */
export interface DirectionCounters {
  readonly packets: number;
  readonly bytes: number;
  readonly errors: number;
  readonly drops: number;
}

/** The counters of one link. */
export interface LinkCounters {
  readonly index: number;
  readonly receive: DirectionCounters;
  readonly transmit: DirectionCounters;
}

const IFLA_STATS64 = 23;
/** The members that are read: packets, bytes, errors and drops, each received and sent. */
const members = 8;

/** Requests one link with its counters. */
export function countersRequest(index: number): NetlinkRequest {
  return { type: RTM_GETLINK, flags: 0, body: ifinfomsg(index) };
}

/** The counters in a message; undefined for a message of another type, or without counters. */
export function countersIn({ type, body }: { readonly type: number; readonly body: Uint8Array }): LinkCounters | undefined {
  if (type !== RTM_NEWLINK || body.length < IFINFOMSG) return undefined;
  const stats = new Attributes(body, IFINFOMSG).get(IFLA_STATS64);
  if (stats === undefined || stats.length < members * 8) return undefined;
  const at = (member: number): number => u32At(stats, member * 8) + u32At(stats, member * 8 + 4) * 2 ** 32;
  return {
    index: i32At(body, 4),
    receive: { packets: at(0), bytes: at(2), errors: at(4), drops: at(6) },
    transmit: { packets: at(1), bytes: at(3), errors: at(5), drops: at(7) },
  };
}
