// The next hops of a route that has several at once (RTA_MULTIPATH, linux/rtnetlink.h).

import { formatAddress } from "../../src/net/ip.ts";
import { attributesIn, viewOf } from "./message.ts";
import type { Route } from "./route.ts";

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

/** Its next hops; none where the route has one only, which it names itself. */
export function nextHopsOf({ raw, family }: Pick<Route, "raw" | "family">): readonly NextHop[] {
  const bytes = attributesIn(raw.subarray(RTMSG)).get(RTA_MULTIPATH) ?? new Uint8Array(0);
  const view = viewOf(bytes);
  const hops: NextHop[] = [];
  for (let at = 0; at + RTNEXTHOP <= bytes.length;) {
    const length = view.u16(at);
    if (length < RTNEXTHOP || at + length > bytes.length) break;
    const gateway = attributesIn(bytes.subarray(at + RTNEXTHOP, at + length)).get(RTA_GATEWAY);
    hops.push({
      gateway: gateway === undefined ? undefined : addressText(gateway, family),
      oif: view.i32(at + 4),
      onlink: ((bytes[at + 2] ?? 0) & RTNH_F_ONLINK) !== 0,
    });
    at += (length + 3) & ~3;
  }
  return hops;
}

function addressText(bytes: Uint8Array, family: 4 | 6): string | undefined {
  if (bytes.length !== (family === 4 ? 4 : 16)) return undefined;
  return formatAddress({ family, value: bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) });
}
