// Finds the node's end of the attachment's veth. Only the node's own data count: the id by which it knows the pod's namespace, and the index of the
// other end. A pod can make up everything that its own links show, so those only say where to look.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { SECOND_NAMESPACE } from "../../system/netlink/exchange.ts";
import { linkRequest, namespaceIdRequest } from "../../system/netlink/link-change.ts";
import { type LinkState, linkStatesIn } from "../../system/netlink/link-state.ts";
import { isGone, Namespaces } from "../links/namespaces.ts";
import { isNodeEnd, namespaceId } from "../links/verify-links.ts";
import { failure, type ShapingShim } from "./kernel.ts";
import { systemError } from "../../system/system-error.ts";

/** The node's end; undefined where the interface does not exist, or has no end on the node. Fault: NETLINK_FAILED. */
export async function findNodeLink(shim: ShapingShim, netns: string, ifname: string): Promise<Result<LinkState | undefined>> {
  if (netns === "") return ok(undefined);
  const namespaces = new Namespaces(shim, netns);
  const inPod = await namespaces.exchange("pod", [linkRequest(ifname)]);
  if (isGone(inPod)) return ok(undefined);
  if (inPod.errno !== 0) return failed(namespaces.unreachable(inPod.errno));
  const [podEnd] = linkStatesIn(inPod.answers[0]);
  if (podEnd?.kind !== "veth" || podEnd.link === undefined || podEnd.link <= 0) return ok(undefined);
  const onNode = await namespaces.exchange("host", [linkRequest(podEnd.link), namespaceIdRequest(SECOND_NAMESPACE)], true);
  if (isGone(onNode)) return ok(undefined);
  if (onNode.errno !== 0) return failed(failure(`looking for the other end of ${ifname}`, systemError(onNode.errno)));
  const [nodeEnd] = linkStatesIn(onNode.answers[0]);
  const podId = namespaceId(onNode.answers[1]);
  return ok(nodeEnd !== undefined && isNodeEnd(nodeEnd, podEnd, podId) ? nodeEnd : undefined);
}
