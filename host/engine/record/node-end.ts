// The node's end of a veth whose pod's end has left the pod's network namespace, for example into a namespace within the pod.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import { linkRequest } from "../../system/netlink/link-change.ts";
import { linkStateIn } from "../../system/netlink/link-state.ts";
import { decodeAnswers, encodeRequests } from "../../system/netlink/message.ts";
import { removeLink } from "../../system/netlink/namespace-links.ts";

const deadlineMs = 10_000;

/**
 * Removes the node's end of this link, if it still exists: the kernel removes both ends of a veth together. Other kinds have no end on the node.
 * Fault NETLINK_FAILED.
 */
export async function removeNodeEnd(shim: NetlinkSender, { kind, index, peer }: LinkIdentity): Promise<Result<void>> {
  if (kind !== "veth" || peer === undefined) return ok(undefined);
  const { reply } = await shim.netlink({ path: "", request: encodeRequests([linkRequest(peer)]), deadlineMs });
  const [end] = decodeAnswers(reply, 1)[0]?.messages.flatMap((message) => linkStateIn(message) ?? []) ?? [];
  // The other end keeps its index in a namespace where the index is free.
  const isOwn = end?.kind === "veth" && end.link === index && end.linkNamespace !== undefined;
  return isOwn ? removeLink(shim, "", end) : ok(undefined);
}
