// One look at the links of a container's attachments, in one NETLINK effect.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatCidr } from "../../../src/net/ip.ts";
import { ENODEV, ENOENT, ENOTDIR, EINVAL } from "../../../host/system/errno.ts";
import { addressesRequest, addressStateIn } from "../../../host/system/netlink/address.ts";
import { deadlineMs, type NetlinkSender } from "../../../host/system/netlink/exchange.ts";
import { linkRequest } from "../../../host/system/netlink/link-change.ts";
import { type LinkState, linkStateIn } from "../../../host/system/netlink/link-state.ts";
import { decodeAnswers, encodeRequests } from "../../../host/system/netlink/message.ts";
import { namespaceCookieIn } from "../../../host/system/netlink/namespace-links.ts";
import { systemError } from "../../../host/system/system-error.ts";
import type { SeenPod } from "../rules/judge-link.ts";
import type { WatchedContainer } from "./watched-links.ts";

/** Where to look. `made`: the link as its ADD made it. */
export interface LookedPod extends Pick<WatchedContainer, "netns" | "cookie"> {
  readonly links: readonly { readonly ifname: string; readonly made?: { readonly index: number } | undefined }[];
}

/**
 * Looks at the links with the indexes and the names of the attachments; `gone`: the network namespace is gone, or another one has its path. Fault
 * NETLINK_FAILED; throws ShimGone. `noteBytes`: receives the length of the kernel's answer.
 */
export async function lookIntoPod(
  shim: NetlinkSender,
  { netns, cookie, links }: LookedPod,
  noteBytes: (bytes: number) => void,
): Promise<Result<SeenPod | "gone">> {
  const requests = links.flatMap(({ ifname, made }) => [
    linkRequest(ifname),
    ...(made === undefined ? [] : [linkRequest(made.index)]),
  ]);
  const request = encodeRequests([...requests, addressesRequest(0)]);
  const done = await shim.netlink({ path: netns, request, deadlineMs });
  noteBytes(done.reply.length);
  if (!done.sent && [ENOENT, ENOTDIR, EINVAL].includes(done.errno)) return ok("gone");
  if (done.errno !== 0) return failed(fault("NETLINK_FAILED", `looking at the links of ${netns}: ${systemError(done.errno)}`));
  const shown = namespaceCookieIn(done.reply);
  if (cookie !== undefined && shown !== undefined && cookie !== shown) return ok("gone");
  const answers = decodeAnswers(done.reply, requests.length + 1);
  const found = new Map<number, LinkState>();
  const addresses = new Map<number, string[]>();
  for (const answer of answers) {
    if (answer === undefined || (answer.errno !== 0 && answer.errno !== ENODEV) || answer.interrupted)
      return failed(fault("NETLINK_FAILED", `looking at the links of ${netns}: ${systemError(answer?.errno ?? 0)}`));
    for (const message of answer.messages) {
      const link = linkStateIn(message);
      if (link !== undefined) found.set(link.index, link);
      const address = addressStateIn(message);
      if (address === undefined) continue;
      // A pod has as many addresses as it likes: those of a link are one list, which grows in its place.
      const ofLink = addresses.get(address.link) ?? [];
      if (ofLink.push(formatCidr(address.cidr)) === 1) addresses.set(address.link, ofLink);
    }
  }
  return ok({ links: [...found.values()], addresses });
}
