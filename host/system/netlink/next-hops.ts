// The next hops of a route that has several at once (RTA_MULTIPATH, linux/rtnetlink.h).

import { Attributes } from "./message.ts";
import { addressText, i32At, u16At } from "./bytes.ts";
import type { Route } from "./route.ts";

/** One next hop of a multipath route. */
export interface NextHop {
  readonly gateway: string | undefined;
  /** Index of the link. */
  readonly oif: number;
  readonly onlink: boolean;
}

const RTMSG = 12;
const RTNEXTHOP = 8;
const RTA_GATEWAY = 5;
const RTA_MULTIPATH = 9;
const RTNH_F_ONLINK = 4;

/** The next hops of a multipath route; none for a route with one next hop. */
export function nextHopsOf({ raw, family }: Route): readonly NextHop[] {
  const bytes = new Attributes(raw, RTMSG).get(RTA_MULTIPATH) ?? new Uint8Array(0);
  const hops: NextHop[] = [];
  for (let at = 0; at + RTNEXTHOP <= bytes.length;) {
    const length = u16At(bytes, at);
    if (length < RTNEXTHOP || at + length > bytes.length) break;
    const gateway = new Attributes(bytes, at + RTNEXTHOP, at + length).get(RTA_GATEWAY);
    hops.push({
      gateway: addressText(gateway, family),
      oif: i32At(bytes, at + 4),
      onlink: ((bytes[at + 2] ?? 0) & RTNH_F_ONLINK) !== 0,
    });
    at += (length + 3) & ~3;
  }
  return hops;
}
