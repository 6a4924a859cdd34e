// The counters of one container's links, in one NETLINK effect.

import type { NetlinkSender } from "../../../host/system/netlink/exchange.ts";
import { countersIn, countersRequest, type LinkCounters } from "../../../host/system/netlink/link-counters.ts";
import { decodeAnswers, encodeRequests } from "../../../host/system/netlink/message.ts";
import { namespaceCookieIn } from "../../../host/system/netlink/namespace-links.ts";

const deadlineMs = 2_000;

/** Where to read. */
export interface CountedPod {
  readonly netns: string;
  /** Undefined where the kernel gives none. */
  readonly cookie: string | undefined;
  readonly indexes: readonly number[];
}

/** The counters of the links that exist; none if the network namespace is gone or another one. Throws ShimGone. */
export async function readCounters(
  shim: NetlinkSender,
  { netns, cookie, indexes }: CountedPod,
): Promise<readonly LinkCounters[]> {
  const request = encodeRequests(indexes.map(countersRequest));
  const { errno, reply } = await shim.netlink({ path: netns, request, deadlineMs });
  const shown = namespaceCookieIn(reply);
  if (errno !== 0 || (cookie !== undefined && shown !== undefined && cookie !== shown)) return [];
  return decodeAnswers(reply, indexes.length).flatMap((answer) =>
    (answer?.messages ?? []).flatMap((message) => countersIn(message) ?? []),
  );
}
