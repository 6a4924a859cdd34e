// Prepares the DEL of an attachment while its pod lives. Plugins find their link by its name, but the pod may have renamed it, and given its name to
// another link. The attachment's own link is removed, or the DEL is refused: a lease must not be freed while a link has its address.

import type { NetworkList } from "../../../src/cni/network-list.ts";
import { fault } from "../../../src/fault/fault.ts";
import { type Result, failed, ok } from "../../../src/fault/result.ts";
import {
  hasName,
  type LinkIdentity,
  type ShownLink,
  isSameLink,
  mayMakeLink,
  wouldMoveForeign,
} from "../../../src/pod-link/link-identity.ts";
import { removalPlan, bondMembers, type MembersPlan, membersPlan } from "../../../src/pod-link/removal-plan.ts";
import type { AttachmentProgress, JournalEntry, PlannedAttachment } from "../../store/journal/entry.ts";
import { deadlineMs, type NetlinkSender } from "../../system/netlink/exchange.ts";
import { linkChange, linkRequest } from "../../system/netlink/link-change.ts";
import { linkStatesIn } from "../../system/netlink/link-state.ts";
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
  const names = [...plan.attachments.map(({ ifname }) => ifname), ...(pod.made ?? []).map(({ name }) => name)];
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
  const members = membersOf(plugins, pod?.made ?? [], view);
  if (members?.release !== undefined) return releaseMembers(call, members.release, { source, ifname, made, view, ownLinks });
  if (members !== undefined) {
    const renamed = await nameMembers(call, members, view);
    if (!renamed.ok) return kept(source, ifname, "has a member without its name", renamed.fault.msg);
  }
  const prepared = { netns: plan.withNamespace ? view.netns : "", ownLinks };
  if (plan.isMissing === true && made !== undefined) {
    const removed = await removeNodeEnd(call.shim, made);
    if (!removed.ok) return kept(source, ifname, "was moved to another network namespace", removed.fault.msg);
  }
  if (plan.before !== undefined) {
    const { what, link } = plan.before;
    if (plan.aside !== undefined) {
      const cleared = await putAside(call, view, plan.aside, ifname);
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

/** Takes a name from a link of the pod. Fault NETLINK_FAILED. */
function putAside({ shim }: Call, { netns }: PodView, link: ShownLink, name: string): Promise<Result<void>> {
  return link.name === name ? renameLink(shim, netns, link, `aside${link.index}`) : takeName(shim, netns, link, name);
}

function membersOf(plugins: NetworkList["plugins"], made: readonly LinkIdentity[], { links }: PodView): MembersPlan | undefined {
  const bond = bondMembers(plugins);
  return bond && membersPlan(bond, made, links);
}

/** Gives devices of the node in a bond their names back, so that the plugin's DEL moves them and no link of the pod. Fault NETLINK_FAILED. */
async function nameMembers(call: Call, { aside, rename }: MembersPlan, view: PodView): Promise<Result<void>> {
  for (const { link, name } of aside) {
    const cleared = await putAside(call, view, link, name);
    if (!cleared.ok) return cleared;
  }
  for (const { link, name } of rename) {
    const named = await renameLink(call.shim, view.netns, link, name);
    if (!named.ok) return named;
  }
  return ok(undefined);
}

interface MemberRelease extends Pick<PlannedAttachment, "source" | "ifname"> {
  /** The bond. */
  readonly made: LinkIdentity | undefined;
  readonly view: PodView;
  readonly ownLinks: PreparedUndo["ownLinks"];
}

/** Removes a bond, and brings its members up, as its plugin would under their names. Fault LINK_KEPT. */
async function releaseMembers(
  call: Call,
  members: readonly ShownLink[],
  { source, ifname, made, view, ownLinks }: MemberRelease,
): Promise<Result<PreparedUndo>> {
  const bond = view.links.find((link) => (made === undefined ? hasName(link, ifname) : isSameLink(made, link)));
  const removed = bond === undefined ? ok(undefined) : await removeLink(call.shim, view.netns, bond);
  if (!removed.ok) return kept(source, ifname, "has members under other names", removed.fault.msg);
  for (const { index } of members) {
    const request = encodeRequests([linkChange(index, { up: true })]);
    await call.shim.netlink({ path: view.netns, request, deadlineMs });
  }
  call.warn(
    `network ${source} as ${ifname}: members of the bond have other names now. The bond is removed, and its plugin gets no CNI_NETNS`,
  );
  return ok({ netns: "", ownLinks });
}

/** The view after the undo of an attachment: its link no longer counts. */
export function withoutLink(view: PodView, made: LinkIdentity | undefined): PodView {
  return made === undefined ? view : { ...view, links: view.links.filter((link) => !isSameLink(made, link)) };
}

function kept(source: string, ifname: string, state: string, why: string): Result<never> {
  const what = `network ${source} as ${ifname}: its link ${state} and cannot be removed: ${why}`;
  return failed(fault("LINK_KEPT", `${what}. Its addresses stay reserved, because the link may still use them`));
}

/**
 * Removes the node's end of this link, if it still exists: the kernel removes both ends of a veth together. Other kinds have no end on the node.
 * Fault NETLINK_FAILED.
 */
export async function removeNodeEnd(shim: NetlinkSender, { kind, index, peer }: LinkIdentity): Promise<Result<void>> {
  if (kind !== "veth" || peer === undefined) return ok(undefined);
  const { reply } = await shim.netlink({ path: "", request: encodeRequests([linkRequest(peer)]), deadlineMs });
  const [end] = linkStatesIn(decodeAnswers(reply, 1)[0]);
  // The other end keeps its index in a namespace where the index is free.
  const isOwn = end?.kind === "veth" && end.link === index && end.linkNamespace !== undefined;
  return isOwn ? removeLink(shim, "", end) : ok(undefined);
}
