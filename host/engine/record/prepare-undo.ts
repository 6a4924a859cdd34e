// Prepares the DEL of an attachment while its pod lives. Plugins find their link by its name, but the pod may have renamed it, and given its name to
// another link. The attachment's own link is removed, or the DEL is refused: a lease must not be freed while a link has its address.

import type { NetworkList } from "../../../src/cni/network-list.ts";
import { fault } from "../../../src/fault/fault.ts";
import { type Result, failed, ok } from "../../../src/fault/result.ts";
import { hasName, type LinkIdentity, type ShownLink, isSameLink } from "../../../src/pod-link/link-identity.ts";
import { mayMakeLink, wouldMoveForeign } from "../../../src/pod-link/link-makers.ts";
import { removalPlan } from "../../../src/pod-link/removal-plan.ts";
import type { AttachmentProgress, JournalEntry, PlannedAttachment } from "../../store/journal/entry.ts";
import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import { linkRequest } from "../../system/netlink/link-change.ts";
import { linkStateIn } from "../../system/netlink/link-state.ts";
import { decodeAnswers, encodeRequests } from "../../system/netlink/message.ts";
import { findInNamespace, removeLink, renameLink, takeName } from "../../system/netlink/namespace-links.ts";
import type { Call } from "../call.ts";

/** The links of a living pod, for the undo of its attachments. Undefined: nothing is known, so that plugins go by names. */
export interface PodView {
  /** Path of the namespace; empty: the path leads to another namespace, so that the pod's own is out of reach. */
  readonly netns: string;
  /** Whether the pod's processes run, so that any of its links may be the pod's own. */
  readonly isRunning?: boolean;
  /** The links of the entry's record, and the links with the names of attachments. */
  readonly links: readonly ShownLink[];
}

/** The parts of a DEL that depend on the pod's links. */
export interface PreparedUndo {
  /** CNI_NETNS of the plugins. Without one they touch no link of the pod. */
  readonly netns: string;
  /** The links of the pod that the attachment's steps may remove, by the names of their ADD; undefined: unknown, so that names decide. */
  readonly ownLinks: readonly LinkIdentity[] | undefined;
}

/**
 * Looks at the pod of an entry; undefined if the entry has no identities or the namespace is gone. Fault NETLINK_FAILED: the namespace is there and
 * cannot be looked into.
 */
export async function viewPod(call: Call, { pod, plan }: JournalEntry, netns: string): Promise<Result<PodView | undefined>> {
  if (pod === undefined || netns === "") return ok(undefined);
  const indexes = [...(pod.made ?? []), ...(pod.earlier ?? [])].map(({ index }) => index);
  const names = plan.attachments.map(({ ifname }) => ifname);
  const seen = await findInNamespace(call.shim, netns, { indexes, names });
  if (!seen.ok) return seen;
  if (seen.value === "gone") return ok(undefined);
  const { links, cookie } = seen.value;
  const isOther = pod.cookie !== undefined && cookie !== undefined && pod.cookie !== cookie;
  if (!isOther) return ok({ netns, links });
  call.warn(
    `${netns} is another network namespace than that of container ${plan.containerId}'s ADD: its links are left alone, and plugins get no CNI_NETNS`,
  );
  return ok({ netns: "", links: [] });
}

/**
 * Prepares the DEL of one attachment: gives its link the name back, or removes the link where another one has its name. Fault LINK_KEPT: the link
 * can be neither, so that the attachment stays.
 */
export async function prepareUndo(
  call: Call,
  { pod }: JournalEntry,
  { ifname, source }: PlannedAttachment,
  { plugins }: NetworkList,
  { result, failedStep }: AttachmentProgress,
  view: PodView,
): Promise<Result<PreparedUndo>> {
  const made = pod?.made?.find(({ name }) => name === ifname);
  const earlier = pod?.earlier?.find(({ name }) => name === ifname);
  const ownLinks = made === undefined ? undefined : pod?.made;
  if (view.netns === "") return ok({ netns: "", ownLinks });
  const failing = failedStep === undefined ? plugins : plugins.slice(failedStep.step, failedStep.step + 1);
  const named = view.links.find((link) => hasName(link, ifname));
  const movesForeign = view.isRunning === true && wouldMoveForeign(plugins, named);
  const plan = removalPlan(
    { ifname, made, earlier, completed: result !== undefined, makesLink: mayMakeLink(failing), movesForeign },
    view.links,
  );
  const prepared = { netns: plan.withNamespace ? view.netns : "", ownLinks };
  if (plan.isMissing === true && made !== undefined) {
    const removed = await removeNodeEnd(call.shim, made);
    if (!removed.ok) return kept(source, ifname, "was moved to another network namespace", removed.fault.msg);
  }
  if (plan.before !== undefined) {
    const { what, link } = plan.before;
    if (plan.aside !== undefined) {
      const { aside } = plan;
      const cleared =
        aside.name === ifname
          ? await renameLink(call.shim, view.netns, aside, `aside${aside.index}`)
          : await takeName(call.shim, view.netns, aside, ifname);
      if (!cleared.ok) return kept(source, ifname, `has the name ${link.name} now`, cleared.fault.msg);
    }
    const renamed = what === "rename" ? await renameLink(call.shim, view.netns, link, ifname) : undefined;
    if (renamed?.ok === true) return ok(prepared);
    const removed = await removeLink(call.shim, view.netns, link);
    if (!removed.ok) return kept(source, ifname, `has the name ${link.name} now`, removed.fault.msg);
  }
  if (prepared.netns === "")
    call.warn(
      `network ${source} as ${ifname}: the pod has another link with this name, which is left alone. The attachment's own link is removed; ` +
        `its plugins get no CNI_NETNS`,
    );
  return ok(prepared);
}

/** The view after the undo of an attachment: its link no longer counts. */
export function withoutLink(view: PodView, made: LinkIdentity | undefined): PodView {
  return made === undefined ? view : { ...view, links: view.links.filter((link) => !isSameLink(made, link)) };
}

function kept(source: string, ifname: string, state: string, why: string): Result<never> {
  const what = `network ${source} as ${ifname}: its link ${state} and cannot be removed: ${why}`;
  return failed(fault("LINK_KEPT", `${what}. Its addresses stay reserved, because the link may still use them`));
}

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
